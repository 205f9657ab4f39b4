import type { PodView } from "../../shared/fleet/cluster.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { claimed, served } from "../../shared/fleet/plan/config-access.ts";
import { planGone } from "../../shared/fleet/plan/gone.ts";
import { afterIntake } from "../../shared/fleet/plan/quarantine.ts";
import { type IdentityRecord, unreadConfig } from "../../shared/fleet/record.ts";
import { describeStep } from "./describe.ts";
import { Model } from "./model.ts";

export const UUID = "11111111-2222-4333-8444-555555555555";
/** The n-th request id: its first twelve hex digits differ. */
export const request = (n: number) => `${n.toString(16).padStart(8, "0")}-aaaa-4000-8000-000000000000`;
/** The name of a run's Workflow for the n-th request. */
export const workflowOf = (kind: string, n: number, attempt = 1) =>
  `f7-${kind}-${n.toString(16).padStart(8, "0")}aaaa-${attempt}`;

export function attests(m: Model, result: "pass" | "fail" = "pass", codes: string[] = []): void {
  m.say(`machine attests: ${result}`);
  const verdict = { result, by: "intake" as const, atMs: m.nowMs, codes, dbxHash: "d1", sbatLevel: null };
  m.record = afterIntake(m.record, m.device, verdict, { uuid: UUID, massFailure: false });
}

/** The identity that certificates of this name give. */
export function identityOf(name: string, serial: string, atMs: number): IdentityRecord {
  const certificate = (key: string) => ({ serialNumber: key, spkiSha256: key, notAfterMs: atMs + 31_536_000_000 });
  const subject = `CN=${name}.0123456789abcdef,SERIALNUMBER=${serial}`;
  return { ldevid: certificate("d1"), lak: certificate("a1"), subject, issuedAtMs: atMs };
}

export function minted(m: Model): void {
  const { run } = m.record;
  if (run === null) throw new Error("no run to mint for");
  m.say("handler: code minted, configuration stored");
  m.record = {
    ...m.record,
    config: unreadConfig("h", run.name, m.nowMs),
    pendingIdentity: identityOf(m.device.name, m.device.serial, m.nowMs),
    token: { id: "abcdef", expiresAtMs: null, csr: null, contended: false, deletedAtMs: null },
  };
}

export function reads(m: Model): void {
  m.say("node reads its configuration to the last byte");
  const serving = claimed("h", "n", "10.0.0.7", m.nowMs)(m.record);
  const done = serving && served("n", m.nowMs)(serving);
  if (!done) throw new Error("the configuration was not served");
  m.record = done;
}

interface CsrChange {
  readonly commonName?: string;
  readonly spki?: string;
  readonly name?: string;
  readonly username?: string;
  readonly usages?: readonly string[];
  readonly organizations?: readonly string[];
  readonly hasSan?: boolean;
}

export function kubeletAsks(m: Model, change: CsrChange = {}): void {
  m.cluster?.csrs.push({
    name: change.name ?? "node-csr-1",
    uid: `csr-${change.name ?? 1}`,
    resourceVersion: "1",
    username: change.username ?? "system:bootstrap:abcdef",
    groups: [],
    signerName: "kubernetes.io/kube-apiserver-client-kubelet",
    usages: change.usages ?? ["digital signature", "client auth"],
    createdAtMs: m.nowMs,
    decision: "pending",
    request: {
      commonName: change.commonName ?? "system:node:w1",
      organizations: change.organizations ?? ["system:nodes"],
      otherSubject: false,
      hasSan: change.hasSan ?? false,
      keyType: "EC",
      spkiSha256: change.spki ?? "k1",
    },
  });
  m.say(`kubelet: CSR ${change.name ?? "node-csr-1"}`);
}

export function aPod(name: string, change: Partial<PodView> = {}): PodView {
  return {
    namespace: "default",
    name,
    uid: `uid-${name}`,
    node: "w1",
    phase: "Running",
    terminating: false,
    mirror: false,
    daemonSet: false,
    ...change,
  };
}

/** A device that its owner declared planned: NetBox's change log says so. */
export function declared(device: Partial<Device> = {}, n = 1): Model {
  const m = new Model(device);
  m.owner({ status: "planned" }, request(n));
  m.changes = (m.changes ?? []).map((c) => ({ ...c, action: "create" as const, before: null }));
  return m;
}

/** Admitted, minted, written, read: whatever request is fresh. */
export function installs(m: Model): void {
  attests(m);
  m.pass("confirm");
  minted(m);
  m.agent(2, "RUNNING");
  m.pass();
  m.agent(6, "SUCCESS");
  m.pass();
  reads(m);
  m.pass();
}

/** planned → active, the ordinary path, its token used and gone. */
export function installed(device: Partial<Device> = {}): Model {
  const m = declared(device);
  m.pass();
  installs(m);
  m.node();
  kubeletAsks(m);
  m.pass();
  m.minutes(2);
  m.pass();
  return m;
}

/** Installed, and its owner has asked for retirement by the ninth request. */
export function retiring(device: Partial<Device> = {}): Model {
  const m = installed(device);
  m.lines.length = 0;
  m.owner({ status: "decommissioning" }, request(9));
  m.pass();
  return m;
}

/** Retiring and erased: the BMC has to say off. */
export function erased(device: Partial<Device> = {}): Model {
  const m = retiring(device);
  m.agent(4, "SUCCESS");
  m.pass();
  return m;
}

/** Retiring, erased, off. */
export function off(device: Partial<Device> = {}): Model {
  const m = erased(device);
  m.say("BMC: off");
  m.job({ state: "completed" });
  m.pass();
  return m;
}

/** What a complete walk of NetBox does that comes without the device. */
export function goneWalk(m: Model): string[] {
  m.minutes(10);
  const objects = m.bootPlane ?? { hardware: [], workflows: [], machines: [], jobs: [] };
  m.lines.push("walk without the device:");
  const steps = planGone(m.record, objects, m.nowMs, m.settings);
  const lines = steps.map((s) => describeStep(s) ?? s.do);
  m.lines.push(...lines.map((l) => `  ${l}`));
  for (const step of steps) m.apply(step);
  return lines;
}

/** Served; its kubelet has not asked yet, its token lives. */
export function servedUnasked(): Model {
  const m = declared();
  attests(m);
  m.pass("confirm");
  minted(m);
  if (m.record.token) m.record = { ...m.record, token: { ...m.record.token, expiresAtMs: m.nowMs + 3_600_000 } };
  m.agent(6, "SUCCESS");
  m.pass();
  reads(m);
  m.pass();
  m.lines.length = 0;
  return m;
}
