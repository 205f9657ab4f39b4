import { expect, it } from "vitest";
import { newFleetRecord } from "../../../shared/fleet/fleet-record.ts";
import { freeSlot, takeSlot } from "../../../shared/fleet/slots.ts";

const ask = (deviceId: number, run: string, unlimited = false) => ({ deviceId, run, unlimited, max: 1 });

it("a run's own slot is free for it, another's is not", () => {
  const one = takeSlot(newFleetRecord(1), ask(7, "a"), 1);
  if (one === null) throw new Error("no slot");
  expect(takeSlot(one, ask(7, "a"), 2)?.slots).toEqual([{ deviceId: 7, run: "a", sinceMs: 2 }]);
  expect(takeSlot(one, ask(8, "b"), 2)).toBeNull();
  expect(takeSlot(freeSlot(one, 7), ask(8, "b"), 2)?.slots).toHaveLength(1);
});

it("the slot of a first install, which waited for nothing, is none for the next run", () => {
  let fleet = newFleetRecord(1);
  for (const id of [7, 8]) fleet = takeSlot(fleet, ask(id, `first ${id}`, true), 1) ?? fleet;
  expect(fleet.slots).toHaveLength(2);
  expect(takeSlot(fleet, ask(7, "wipe"), 2)).toBeNull();
  expect(takeSlot(freeSlot(fleet, 8), ask(7, "wipe"), 2)?.slots).toEqual([{ deviceId: 7, run: "wipe", sinceMs: 2 }]);
});
