import type { Invariant } from "./_invariant.ts";

/** At most one enabled unfinished Workflow a device; at most one ever enabled a request (retirement: none after its SUCCESS). */
export const oneWorkflow: Invariant = {
  number: 1,
  on: (sim, event) => {
    if (event.kind !== "enabled") return null;
    const { name, deviceId, requestId, kind } = event.workflow;
    const { succeeded } = sim.ledger;
    const own = sim.ledger.enabledSinceWord(deviceId, requestId);
    const before = own.filter((e) => e.workflow.requestId === requestId);
    const same = before.filter((e) => e.workflow.kind === kind);
    if (kind !== "retire") {
      const firstMs = Math.min(...same.map((e) => e.atMs));
      if (same.length === 0 || sim.ledger.wentBackAtAll(firstMs, deviceId)) return null;
      return `${name} is enabled after ${same.map((e) => e.workflow.name).join(", ")}`;
    }
    const ended = succeeded.find((s) => !s.late && same.some((e) => e.workflow.uid === s.workflow.uid));
    // What is lost before fleetd could see it, it cannot know.
    if (ended === undefined || sim.ledger.lostSince(ended.atMs, deviceId, "tinkerbell", "record", "records"))
      return null;
    return `${name} is enabled after ${ended.workflow.name} had ended with SUCCESS`;
  },
  always: (sim) => {
    for (const deviceId of sim.netbox.log.keys()) {
      const open = sim.bootPlane.open(deviceId);
      if (open.length > 1) return `device ${deviceId} has ${open.map((w) => w.name).join(" and ")} enabled at once`;
    }
    return null;
  },
};
