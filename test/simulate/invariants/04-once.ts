import { codeHash } from "../../../shared/attest/seal.ts";
import type { Invariant } from "./_invariant.ts";

/** A code is served to completion at most once, and no older one beside a newer. */
export const once: Invariant = {
  number: 4,
  on: (sim, event) => {
    if (event.kind !== "handed" && event.kind !== "served") return null;
    const { code, deviceId } = event;
    if (sim.ledger.servings.has(code)) return `device ${deviceId}'s code is ${event.kind} again`;
    const hashes = sim.ledger.codeHashes.get(deviceId) ?? [];
    const lost = sim.ledger.losses.some((l) => l.what === "records" || l.what === "record");
    if (event.kind === "served" || lost || hashes.at(-1) === codeHash(code)) return null;
    // A newer one may be minted after the claim.
    return event.by.startedAtStep < sim.ledger.newestCodeStep ? null : `device ${deviceId}'s older code is served`;
  },
};
