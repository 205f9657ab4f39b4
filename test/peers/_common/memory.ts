import { readdirSync, readFileSync } from "node:fs";

const KIB = 1024;

/** Bytes (proportional set size) of all processes that come from `root`, without root and without those `leftOut` names. */
export function memoryBelow(root: number, leftOut: (commandLine: string) => boolean): number {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    // The second field is the program's name in parentheses, and may hold any character.
    const parent = Number(text(`/proc/${pid}/stat`).split(") ").pop()?.split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  let bytes = 0;
  const left = [...(children.get(root) ?? [])];
  for (let pid = left.pop(); pid !== undefined; pid = left.pop()) {
    left.push(...(children.get(pid) ?? []));
    if (leftOut(text(`/proc/${pid}/cmdline`).replaceAll("\0", " "))) continue;
    const pss = /^Pss:\s+(\d+) kB/m.exec(text(`/proc/${pid}/smaps_rollup`));
    bytes += Number(pss?.[1] ?? 0) * KIB;
  }
  return bytes;
}

/** A process may be gone between the listing and the read. */
function text(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
