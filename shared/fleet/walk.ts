import type { FleetRecord } from "./fleet-record.ts";
import type { Durations } from "./limits.ts";
import { isEarlier, isoTime } from "./moment.ts";

export type Walk = FleetRecord["walks"][string];

/** Whether the whole of NetBox is read: the last walk is missing, old, or of a clock that went back since. */
export function walkDue(walk: Walk | undefined, nowMs: number, { fullWalkMs }: Pick<Durations, "fullWalkMs">): boolean {
  return walk === undefined || nowMs < walk.startMs || nowMs - walk.startMs >= fullWalkMs;
}

/** From which moment on a pass between walks asks what moved (ISO 8601): the last walk's start less the slack. */
export function movedSince(walk: Walk, { walkSlackMs }: Pick<Durations, "walkSlackMs">): string {
  return isoTime(Math.max(walk.startMs - walkSlackMs, 0));
}

/** The same for rows: never later than the newest one that the walk saw, which must still be there. */
export function rowsSince(walk: Walk, since: string): string {
  return walk.newest !== null && isEarlier(walk.newest, since) ? walk.newest : since;
}

/** The newest of some rows' `last_updated`, or null where there is none. */
export function newestOf(rows: readonly string[]): string | null {
  return rows.reduce<string | null>((a, b) => (a === null || isEarlier(a, b) ? b : a), null);
}

/** Whether the newest row that the last walk saw is gone: NetBox was restored, or that device deleted. */
export function wentBack(walk: Walk, rows: readonly string[]): boolean {
  const newest = newestOf(rows);
  return walk.newest !== null && (newest === null || isEarlier(newest, walk.newest));
}
