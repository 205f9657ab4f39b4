/** Text that a machine had a hand in, safe for a terminal: no control character, no change of direction. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029\ud800-\udfff]/gu, (one) => {
    return `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  });
}

/** Rows as columns, each as wide as its widest cell; the last is not padded. */
export function columns(rows: readonly (readonly string[])[], indent = "  "): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows.map((row) => {
    const cells = row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)));
    return (indent + cells.join("  ")).trimEnd();
  });
}

/** On, off or unknown. */
export function secureBootText(value: boolean | null): string {
  return value === null ? "not told" : value ? "on" : "off";
}
