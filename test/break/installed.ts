import { claimed, served } from "../../shared/fleet/plan/config-access.ts";
import { afterIntake } from "../../shared/fleet/plan/quarantine.ts";
import { unreadConfig } from "../../shared/fleet/record.ts";
import { Model } from "../scenarios/model.ts";

const UUID = "11111111-2222-4333-8444-555555555555";
/** A request id. */
export const request = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** The machine passes intake. */
export function attests(m: Model): void {
  const verdict = {
    result: "pass" as const,
    by: "intake" as const,
    atMs: m.nowMs,
    codes: [],
    dbxHash: "d1",
    sbatLevel: null,
  };
  m.record = afterIntake(m.record, m.device, verdict, { uuid: UUID, massFailure: false });
}

function minted(m: Model): void {
  m.record = {
    ...m.record,
    config: unreadConfig("h", m.record.run?.name ?? "", m.nowMs),
    token: { id: "abcdef", expiresAtMs: m.nowMs + 3_600_000, csr: null, contended: false, deletedAtMs: null },
  };
}

function reads(m: Model): void {
  const serving = claimed("h", "n", "10.0.0.7", m.nowMs)(m.record);
  const done = serving && served("n", m.nowMs)(serving);
  if (!done) throw new Error("not served");
  m.record = done;
}

/** Planned, installed, its configuration served; no pass has seen that yet. */
export function servedUnseen(): Model {
  const m = new Model();
  m.owner({ status: "active" }, request(0));
  m.owner({ status: "planned" }, request(1));
  attests(m);
  m.pass("confirm");
  minted(m);
  m.agent(6, "SUCCESS");
  m.pass();
  reads(m);
  return m;
}

/** A kubelet CSR comes. */
export function csr(
  m: Model,
  name: string,
  change: { username?: string; commonName?: string; spki?: string } = {},
): void {
  m.cluster?.csrs.push({
    name,
    uid: `uid-${name}`,
    resourceVersion: "1",
    username: change.username ?? "system:bootstrap:abcdef",
    groups: [],
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    usages: ["digital signature", "client auth"],
    createdAtMs: m.nowMs,
    decision: "pending",
    request: {
      commonName: change.commonName ?? "system:node:w1",
      organizations: ["system:nodes"],
      otherSubject: false,
      hasSan: false,
      keyType: "EC",
      spkiSha256: change.spki ?? "k1",
    },
  });
}
