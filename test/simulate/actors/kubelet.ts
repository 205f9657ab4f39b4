import { type CsrView, KUBELET_SIGNER } from "../../../shared/fleet/cluster.ts";
import type { Machine } from "../machine.ts";
import { frozen } from "../random.ts";
import type { Sim } from "../sim.ts";

const USAGES = ["digital signature", "client auth"];

function csr(
  sim: Sim,
  change: Partial<Omit<CsrView, "request">>,
  request: Partial<NonNullable<CsrView["request"]>>,
): string {
  const { cluster } = sim;
  const name = `node-csr-${cluster.next()}`;
  const made: CsrView = frozen({
    name,
    uid: `csr-${cluster.next()}`,
    resourceVersion: cluster.next(),
    username: "system:bootstrap:abcdef",
    groups: [],
    signerName: KUBELET_SIGNER,
    usages: USAGES,
    createdAtMs: sim.nowMs,
    decision: "pending",
    ...change,
    request: {
      commonName: "system:node:w1",
      organizations: ["system:nodes"],
      otherSubject: false,
      hasSan: false,
      keyType: "EC",
      spkiSha256: "k",
      ...request,
    },
  });
  cluster.csrList = [...cluster.csrList, made];
  return name;
}

/** A token that the cluster takes now: right secret, not expired. */
function userOf(sim: Sim, token: string | null): string | null {
  const [id = "", secret] = (token ?? "").split(".");
  const held = sim.cluster.tokens.get(id);
  return held !== undefined && held.secret === secret && held.expiresAtMs > sim.nowMs ? `system:bootstrap:${id}` : null;
}

/** The kubelet of an installed machine: a CSR with its token, its Node once that is approved. */
export function kubeletStep(sim: Sim, machine: Machine, n: number): void {
  const { config } = machine;
  if (config === null) return;
  if (machine.joined) return sim.cluster.join(config, n % 4, n % 2 === 0);
  const mine = sim.cluster.csrList.find((c) => c.name === machine.csr);
  if (mine?.decision === "approved") {
    machine.joined = true;
    return sim.cluster.join(config, n % 4, n % 3 === 0);
  }
  const username = userOf(sim, config.token);
  if (username === null || mine !== undefined) return;
  machine.csr = csr(
    sim,
    { username },
    { commonName: `system:node:${config.node}`, spkiSha256: `key of ${machine.name}` },
  );
}

/** What no honest kubelet does with its token, and what strangers ask for. */
export function oddCsr(sim: Sim, machine: Machine, n: number): void {
  const node = machine.config?.node ?? `w${machine.index + 1}`;
  const username = userOf(sim, machine.config?.token ?? null);
  const commonName = `system:node:${node}`;
  if (username === null || n % 6 === 5) {
    csr(sim, { username: n % 2 === 0 ? "somebody" : "system:bootstrap:foreig" }, { commonName, spkiSha256: `s${n}` });
    return;
  }
  const odd = [
    () => csr(sim, { username }, { commonName, spkiSha256: `second key of ${machine.name}` }),
    () => csr(sim, { username }, { commonName: "system:node:w2x", spkiSha256: `key of ${machine.name}` }),
    () => csr(sim, { username }, { commonName, hasSan: true, spkiSha256: `key of ${machine.name}` }),
    () => csr(sim, { username, usages: [...USAGES, "server auth"] }, { commonName, spkiSha256: "u" }),
    () => csr(sim, { username }, { commonName, organizations: ["system:masters"], spkiSha256: "m" }),
  ];
  odd[n % odd.length]?.();
}
