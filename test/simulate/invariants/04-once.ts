import { codeHash } from "../../../shared/attest/seal.ts";
import type { Invariant } from "./_invariant.ts";

/** A code is served to completion at most once, and no older one beside a newer. */
export const once: Invariant = {
  number: 4,
  on: (sim, event) => {
    if (event.kind === "recorded") {
      const [was, is] = [event.before?.config, event.record.config];
      const consumed = was?.state === "served" || was?.state === "lost";
      const readable = is?.state === "unread" || is?.state === "serving";
      return consumed && readable && is.codeHash === was.codeHash
        ? `device ${event.record.deviceId}'s code was ${was.state}, and its record says ${is.state} again`
        : null;
    }
    if (event.kind !== "handed" && event.kind !== "served") return null;
    const { code, deviceId } = event;
    if (sim.ledger.servings.has(code)) return `device ${deviceId}'s code is ${event.kind} again`;
    const first = sim.ledger.broke.get(code) ?? event.address;
    if (event.kind === "handed" && first !== event.address && !sim.ledger.lostSince(0, deviceId, "record", "records"))
      return `device ${deviceId}'s configuration goes to ${event.address} after it broke for ${first}`;
    const hashes = sim.ledger.codeHashes.get(deviceId) ?? [];
    const lost = sim.ledger.lostSince(0, deviceId, "records", "record");
    if (event.kind === "served" || lost || hashes.at(-1) === codeHash(code)) return null;
    // A newer one may be minted after the claim.
    return event.by.startedAtStep < sim.ledger.newestCodeStep ? null : `device ${deviceId}'s older code is served`;
  },
};
