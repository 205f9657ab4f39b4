import type { Invariant } from "./_invariant.ts";

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
    const second = others.find((a) => a.csr.request?.spkiSha256 !== request.spkiSha256);
    if (second !== undefined) return `CSR ${name} is the second key of token ${id}`;
    return sim.ledger.installed.has(token.deviceId) || sim.ledger.wasServed(token.deviceId)
      ? null
      : `CSR ${name} is approved before its configuration was served`;
  },
  atRest: (sim) => {
    for (const { csr: approved, atMs } of sim.ledger.approved) {
      const id = approved.username.slice("system:bootstrap:".length);
      if (sim.cluster.tokens.has(id) && sim.nowMs - atMs > 200_000 && !sim.ledger.lostSince(0, "record", "records"))
        return `token ${id} lives ${Math.round((sim.nowMs - atMs) / 1000)} s after its CSR's approval`;
    }
    return null;
  },
};
