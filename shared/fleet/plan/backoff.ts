/** Delay before the next try after `failures` ones: the first, doubling to the last (spec/30, "Retirement" 2). */
export function backoffMs(failures: number, firstMs: number, lastMs: number): number {
  return Math.min(firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 30), lastMs);
}
