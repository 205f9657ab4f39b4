import type { WorkflowView } from "../boot-plane.ts";
import type { Condition, ConditionType, ReasonOf } from "../condition.ts";
import type { JournalLevel } from "../device.ts";
import { type Happening, withConditions, withJournal } from "../journal.ts";
import { isEarlier } from "../moment.ts";
import type { Observed } from "../observed.ts";
import type { DeviceRecord, DueWork } from "../record.ts";
import { needsChanges, withLog } from "../request.ts";
import type { Plan, Step } from "../step.ts";

/**
 * A plan while it is thought out. The record is decided first and written before any effect that rests on it; what
 * effects settle (`after`) is written once they worked; journal lines come last, so that NetBox cannot hold up safety.
 */
export class Draft {
  readonly o: Observed;
  record: DeviceRecord;
  readonly #effects: Step[] = [];
  readonly #after: ((record: DeviceRecord) => DeviceRecord)[] = [];
  readonly #conditions: Condition[] = [];
  readonly #happenings: Happening[] = [];
  #again = false;
  #patch: Extract<Step, { do: "patch-device" }>["patch"] = {};

  constructor(o: Observed) {
    this.o = o;
    this.record = o.record;
  }

  /** Decides a change of the record. */
  set(change: Partial<DeviceRecord>): void {
    this.record = { ...this.record, ...change };
  }

  effect(step: Step): void {
    this.#effects.push(step);
  }

  /** Takes a Workflow away, if it is still the one that was seen. */
  removeWorkflow({ name, uid, resourceVersion }: WorkflowView): void {
    this.effect({ do: "remove-object", kind: "Workflow", name, uid, resourceVersion });
  }

  /** A change of the record that holds once all effects worked. */
  after(change: (record: DeviceRecord) => DeviceRecord): void {
    this.#after.push(change);
  }

  /** Fields of the NetBox row to write, joined to one PATCH under If-Match. */
  patch(patch: Extract<Step, { do: "patch-device" }>["patch"]): void {
    this.#patch = { ...this.#patch, ...patch };
  }

  condition<Type extends ConditionType>(type: Type, reason: ReasonOf<Type>, message: string, about = ""): void {
    this.recalled(type, reason, message, about);
  }

  /** A condition whose reason is a code that the record holds: an older fleetd may have written one that the list lacks now. */
  recalled(type: ConditionType, reason: string, message: string, about: string): void {
    this.#conditions.push({ type, reason, message, about });
  }

  say(level: JournalLevel, code: string, text: string, about: string): void {
    this.#happenings.push({ level, code, text, about });
  }

  owe(work: DueWork): void {
    const key = JSON.stringify(work);
    if (!this.record.due.some((w) => JSON.stringify(w) === key)) this.set({ due: [...this.record.due, work] });
  }

  /** Asks for another look at once, after this plan's steps. */
  again(): void {
    this.#again = true;
  }

  get wantsAgain(): boolean {
    return this.#again;
  }

  finish(): Plan {
    const { o } = this;
    const told = withConditions(withJournal(this.record, this.#happenings, o.nowMs), this.#conditions, o.nowMs);
    // What the change log said is kept with another write, or once there is nothing else to do: then it spares calls.
    const acts = this.#effects.length > 0 || Object.keys(this.#patch).length > 0 || this.#after.length > 0;
    // One that was not asked for came empty: that says nothing of the row.
    const changes = needsChanges(o.device, o.record) ? o.changes : null;
    const log = { changes, netboxUser: o.settings.netboxUser };
    const before = told === o.record && acts ? told : withLog(o.device, told, log);
    const stamp = (r: DeviceRecord): DeviceRecord =>
      r.rowSeen !== null && isEarlier(o.device.lastUpdated, r.rowSeen) ? r : { ...r, rowSeen: o.device.lastUpdated };
    const steps: Step[] = [];
    let record = o.record;
    const put = (next: DeviceRecord) => {
      if (next === record) return;
      record = stamp(next);
      steps.push({ do: "put-record", record });
    };
    put(before);
    // A row that moved and asks nothing is remembered all the same: a restored NetBox may show what was taken back with it.
    const isNewer = record.rowSeen !== null && isEarlier(record.rowSeen, o.device.lastUpdated);
    if (steps.length === 0 && !acts && isNewer) put({ ...record });
    steps.push(...this.#effects);
    if (Object.keys(this.#patch).length > 0)
      steps.push({ do: "patch-device", id: o.device.id, patch: this.#patch, lastUpdated: o.device.lastUpdated });
    put(this.#after.reduce((r, change) => change(r), record));
    const lines = record.journal.filter((l) => !l.sent);
    // One that the record already held may have been posted: by who lost the write that says so, in this pass or before.
    const found = new Set(o.record.journal.map((l) => l.mark));
    for (const l of lines)
      steps.push({
        do: "journal",
        id: o.device.id,
        level: l.level,
        text: `${l.text} ${l.mark}`,
        mark: l.mark,
        lookFirst: found.has(l.mark),
      });
    if (lines.length > 0) put({ ...record, journal: record.journal.map((l) => (l.sent ? l : { ...l, sent: true })) });
    return { steps, again: this.#again };
  }
}
