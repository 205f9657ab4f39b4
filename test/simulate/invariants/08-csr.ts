import type { Invariant } from "./_invariant.ts";
import { recordOf } from "./truth.ts";

/** What a token lives at most, from its making to its expiry. */
const HOUR_MS = 3_600_000;

/** A kubelet CSR is approved only for the token's own node, one key a token; the token goes a minute later. */
export const csr: Invariant = {
  number: 8,
  on: (sim, event) => {
    if (event.kind !== "approved") return null;
    const { username, request, usages, name } = event.csr;
    const id = /^system:bootstrap:(.*)$/.exec(username)?.[1] ?? "";
    const token = sim.ledger.tokens.get(id);
    if (token === undefined || request === null) return `CSR ${name} of ${username} is approved`;
    if (request.commonName !== `system:node:${token.node}`) return `CSR ${name} for ${request.commonName} is approved`;
    if (request.organizations.join() !== "system:nodes" || request.hasSan)
      return `CSR ${name} with an odd subject is approved`;
    if (usages.includes("server auth")) return `CSR ${name} for a server is approved`;
    const others = sim.ledger.approved.filter((a) => a.csr.username === username);
    // Name and key are in the record before the approval, so that no other process takes another.
    const noted = recordOf(sim, token.deviceId)?.token;
    if (!sim.landing && noted?.id === id && noted.csr?.spkiSha256 !== request.spkiSha256)
      return `CSR ${name} is approved, and its key is not in the record`;
    const second = others.find((a) => a.csr.request?.spkiSha256 !== request.spkiSha256);
    if (second !== undefined) return `CSR ${name} is the second key of token ${id}`;
    return sim.ledger.installed.has(token.deviceId) || sim.ledger.wasServed(token.deviceId)
      ? null
      : `CSR ${name} is approved before its configuration was served`;
  },
  atRest: (sim) => {
    const lost = (id: string, atMs: number) =>
      sim.ledger.lostSince(atMs - HOUR_MS, sim.ledger.tokens.get(id)?.deviceId ?? 0, "record", "records");
    for (const { csr: approved, atMs } of sim.ledger.approved) {
      const id = approved.username.slice("system:bootstrap:".length);
      if (sim.cluster.tokens.has(id) && sim.nowMs - atMs > 200_000 && !lost(id, atMs))
        return `token ${id} lives ${Math.round((sim.nowMs - atMs) / 1000)} s after its CSR's approval`;
    }
    return null;
  },
};
