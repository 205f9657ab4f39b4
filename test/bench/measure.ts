/** CPU time of one call, in microseconds: user and system, garbage collection included, best of a few rounds. */
export function cpuMicrosPerCall(run: () => unknown, budgetMs = 300, rounds = 5): number {
  for (let i = 0; i < 3000; i++) run();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    let calls = 0;
    let spent = 0;
    do {
      for (let i = 0; i < 20; i++) run();
      calls += 20;
      const { user, system } = process.cpuUsage(before);
      spent = user + system;
    } while (spent < budgetMs * 1000);
    best = Math.min(best, spent / calls);
  }
  return best;
}

/** A table for people, the first column to the left. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .join("\n");
}
