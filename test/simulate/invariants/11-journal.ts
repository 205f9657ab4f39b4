import type { Invariant } from "./_invariant.ts";
import { recordOf } from "./truth.ts";

/** How far the clock of a process may be ahead when it dates a line. */
const SKEW_MS = 3_600_000;
/** Lines of a device that its record remembers at least. */
const REMEMBERED_LINES = 60;
const MARK = /\[fleetd [0-9a-f]+\]$/;

/** Each condition is journaled once a run or request, and no line is lost. */
export const journal: Invariant = {
  number: 11,
  on: (sim, event) => {
    if (event.kind === "recorded") {
      const marks = new Set(event.record.journal.map((line) => line.mark));
      // What is POSTed is looked up by its mark where the record has it already; the record itself is what owners are shown.
      const again = event.record.journal.find((line, n, all) => all.findIndex(({ mark }) => mark === line.mark) < n);
      if (again !== undefined) return `device ${event.record.deviceId}'s record tells twice: ${again.text}`;
      const lost = event.before?.journal.find((line) => !line.sent && !marks.has(line.mark));
      return lost === undefined ? null : `device ${event.record.deviceId}'s line is dropped unsent: ${lost.text}`;
    }
    if (event.kind !== "journaled" || event.by === null || sim.landing) return null;
    const { ledger, nowMs } = sim;
    const mark = MARK.exec(event.line.text)?.[0] ?? "";
    const key = `${event.line.deviceId} ${mark}`;
    const held = !event.by.lockless && nowMs - event.by.startedAtMs < sim.settings.durations.passLockMs;
    const before = ledger.marks.get(key);
    // A lock that the store did not give, or one or a record that was lost while either of the two worked makes them two at once.
    const sinceMs = event.by.startedAtMs;
    const lines = sim.netbox.journal.filter((line) => line.deviceId === event.line.deviceId).length;
    ledger.marks.set(key, { held, sinceMs, lines });
    if (before === undefined || !held || !before.held) return null;
    // So long after, what is of no run or request happened anew.
    if (lines - before.lines > REMEMBERED_LINES) return null;
    if (
      ledger.lostSince(Math.min(before.sinceMs, sinceMs), event.line.deviceId, "record", "records", "netbox", "store")
    )
      return null;
    return `device ${event.line.deviceId} is told twice: ${event.line.text}`;
  },
  atRest: (sim) => {
    for (const row of sim.netbox.rows.values())
      for (const line of recordOf(sim, row.id)?.journal ?? []) {
        if (!line.sent) return `device ${row.id}'s line is not sent: ${line.text}`;
        const isThere = sim.netbox.journal.some((one) => one.deviceId === row.id && one.text.includes(line.mark));
        if (!isThere && !sim.ledger.lostSince(line.dueAtMs - SKEW_MS, row.id, "netbox"))
          return `device ${row.id}'s line is lost: ${line.text}`;
      }
    return null;
  },
};
