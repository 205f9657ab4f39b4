import { describe, expect, it } from "vitest";
import type { CsrView } from "../../shared/fleet/cluster.ts";
import { withJournal } from "../../shared/fleet/journal.ts";
import { refetched } from "../../shared/fleet/plan/config-access.ts";
import { attests, declared, installed, kubeletAsks, minted, request, servedUnasked } from "../scenarios/acts.ts";
import { CLASSES } from "../scenarios/fixtures.ts";
import type { Model } from "../scenarios/model.ts";
import { acts, conditions, runs, said, times } from "./seen.ts";

const approved = (lines: readonly string[]) => lines.filter((l) => l.startsWith("approve"));

describe("the first kubelet CSR of a node's own token", () => {
  it("csr: approved, its name and key in the record before; a minute later the token goes", () => {
    const m = servedUnasked();
    kubeletAsks(m);
    m.until("put-record");
    expect(m.record.token?.csr).toMatchObject({ name: "node-csr-1", spkiSha256: "k1" });
    expect(m.cluster?.csrs[0]?.decision).toBe("pending");
    expect(approved(m.pass())).toEqual(["approve CSR node-csr-1"]);
    m.minutes(1);
    expect(acts(m.pass())).toContain("delete-token abcdef");
    expect(m.pass().filter((l) => l.startsWith("delete-token"))).toEqual([]);
  });

  it.each<[string, Parameters<typeof kubeletAsks>[1]]>([
    ["another node's name", { commonName: "system:node:w2" }],
    ["another group", { organizations: ["system:masters"] }],
    ["a second group", { organizations: ["system:nodes", "system:masters"] }],
    ["subject alternative names", { hasSan: true }],
    ["server usages", { usages: ["digital signature", "server auth"] }],
    ["a usage too many", { usages: ["digital signature", "client auth", "server auth"] }],
  ])("csr: %s: left alone, said once", (_name, change) => {
    const m = servedUnasked();
    kubeletAsks(m, change);
    expect(approved([...m.pass(), ...m.pass()])).toEqual([]);
    expect(conditions(m)).toEqual(["CsrRefused/csr-refused"]);
    expect(times(m, "journal warning: CSR node-csr-1 of this node's token is left alone")).toBe(1);
  });

  it("csr: another signer, a request that cannot be read: left alone", () => {
    const m = servedUnasked();
    kubeletAsks(m);
    const [csr] = m.cluster?.csrs ?? [];
    if (csr === undefined || m.cluster === null) throw new Error("no CSR");
    const odd: CsrView[] = [
      { ...csr, name: "a", signerName: "kubernetes.io/kube-apiserver-client" },
      { ...csr, name: "b", request: null },
    ];
    m.cluster.csrs = odd;
    expect(approved(m.pass())).toEqual([]);
  });

  it("csr: before its configuration was served: left alone", () => {
    const m = declared();
    attests(m);
    m.pass("confirm");
    minted(m);
    kubeletAsks(m);
    expect(approved(m.pass())).toEqual([]);
  });

  it("csr: hundreds of strangers' neither block nor slow it, and are said once", () => {
    const m = servedUnasked();
    for (let n = 0; n < 300; n++) kubeletAsks(m, { name: `s${n}`, username: `system:bootstrap:${n}`, spki: `s${n}` });
    kubeletAsks(m);
    m.lines.length = 0;
    expect(approved(m.pass())).toEqual(["approve CSR node-csr-1"]);
    m.pass();
    expect(times(m, "which is not its own token: left alone")).toBe(1);
  });

  it("csr: made with a cluster-wide token: never approved, whatever node it names, said once", () => {
    const m = servedUnasked();
    kubeletAsks(m, { username: "system:bootstrap:wide00" });
    expect(approved([...m.pass(), ...m.pass()])).toEqual([]);
    // A hundred lines later its own has left the record: while the CSR pends it is not told anew.
    for (let n = 0; n < 100; n++)
      m.record = withJournal(m.record, [{ level: "info", code: `line-${n}`, text: "told", about: "" }], m.nowMs);
    m.record = { ...m.record, journal: m.record.journal.map((line) => ({ ...line, sent: true })) };
    m.record = withJournal(m.record, [{ level: "info", code: "last", text: "told", about: "" }], m.nowMs);
    m.pass();
    m.pass();
    expect(times(m, "a CSR for this node came from system:bootstrap:wide00")).toBe(1);
  });

  it("csr: same name and key again within the minute: approved again; later not", () => {
    const m = servedUnasked();
    kubeletAsks(m);
    m.pass();
    const pending = () => {
      if (m.cluster) m.cluster.csrs = m.cluster.csrs.map((c) => ({ ...c, decision: "pending" as const }));
    };
    pending();
    expect(approved(m.pass())).toEqual(["approve CSR node-csr-1"]);
    m.minutes(1);
    pending();
    expect(approved(m.pass())).toEqual([]);
  });

  it("csr: a second key: token deleted, Node cordoned and tainted, a danger line", () => {
    const m = servedUnasked();
    kubeletAsks(m);
    m.pass();
    m.node();
    kubeletAsks(m, { name: "node-csr-2", spki: "k2" });
    const lines = m.pass();
    expect(approved(lines)).toEqual([]);
    expect(acts(lines)).toEqual(["node: unschedulable=true taint=true reason=quarantine", "delete-token abcdef"]);
    expect(conditions(m)).toEqual(["BootstrapTokenContended/second-user", "Quarantined/by-intake"]);
    expect(said(lines).filter((l) => l.startsWith("journal danger"))).toHaveLength(2);
  });

  it("csr: two keys at once: neither is approved", () => {
    const m = servedUnasked();
    kubeletAsks(m);
    kubeletAsks(m, { name: "node-csr-2", spki: "k2" });
    expect(approved(m.pass())).toEqual([]);
    expect(conditions(m)).toContain("BootstrapTokenContended/second-user");
  });

  it("csr: the consumed code used again while the token lives ends the token", () => {
    const m = servedUnasked();
    m.record = refetched("h", m.nowMs)(m.record) ?? m.record;
    expect(acts(m.pass())).toContain("delete-token abcdef");
    expect(conditions(m)).toEqual([
      "InstallConfigRefetched/code-consumed",
      "BootstrapTokenContended/second-user",
      "Quarantined/by-intake",
    ]);
  });

  it("csr: approved by others: said, and the token ends as after fleetd's own", () => {
    const m = servedUnasked();
    m.othersApprove = true;
    kubeletAsks(m);
    if (m.cluster) m.cluster.csrs = m.cluster.csrs.map((c) => ({ ...c, decision: "approved" as const }));
    expect(said(m.pass()).join("\n")).toContain("was approved, and not by fleetd");
    expect(conditions(m)).toContain("OthersApprove/others-approve");
    m.minutes(2);
    expect(acts(m.pass())).toContain("delete-token abcdef");
  });

  it("token: unused, it ends at its expiry", () => {
    const m = servedUnasked();
    m.minutes(57);
    expect(acts(m.pass())).toEqual([]);
    m.minutes(3);
    expect(acts(m.pass())).toEqual(["delete-token abcdef"]);
  });

  it("token: the cluster down: owed, said, deleted once it answers", () => {
    const m = servedUnasked();
    m.minutes(61);
    const { cluster } = m;
    m.cluster = null;
    m.pass();
    expect(conditions(m)).toEqual(["ClusterUnavailable/cluster-unavailable"]);
    m.cluster = cluster;
    expect(acts(m.pass())).toEqual(["delete-token abcdef"]);
  });

  it("csr: a renamed device: its CSR names the node that its configuration names", () => {
    const m = servedUnasked();
    m.owner({ name: "w9" }, request(2));
    kubeletAsks(m);
    expect(approved(m.pass())).toEqual(["approve CSR node-csr-1"]);
  });
});

describe("gates of a provision", () => {
  const worker = CLASSES["talos-worker"];
  const classes = {
    ...CLASSES,
    "control-plane": { ...worker, workload: "controlplane" },
    debian: { ...worker, os: "debian", payload: "none" },
    image: {
      ...worker,
      os: "debian",
      payload: "cloud-init-nocloud",
      image: "http://x/i",
      image_digest: `sha256:${"d".repeat(64)}`,
      image_format: "raw",
    },
    tpmless: { ...worker, attestation: "unsupported", payload: "talos" },
  } as never;

  function asks(fleetClass: string, change: { clusterTokenApproved?: boolean } = {}): Model {
    const m = declared({ fleetClass, ...change });
    m.classes = classes;
    m.owner({ desiredAction: "provision" }, request(2));
    return m;
  }

  it("gate: control planes install only with FLEET_CONTROL_PLANES=true", () => {
    const m = asks("control-plane", { clusterTokenApproved: true });
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["RequestWaits/control-planes-off"]);
    m.settings = { ...m.settings, controlPlanes: true };
    const lines = m.pass();
    expect(runs(lines)).toHaveLength(2);
    expect(said(lines)).toContain("journal warning: a control plane: removing its etcd member is its owner's to do");
  });

  it("gate: the cluster-wide token: the request is journaled, and waits for the owner's approval", () => {
    const m = asks("control-plane");
    m.settings = { ...m.settings, controlPlanes: true };
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["RequestWaits/cluster-token"]);
    expect(times(m, "journal warning: provision waits: class control-plane asks for the cluster-wide token")).toBe(1);
    m.write({ clusterTokenApproved: true });
    const lines = m.pass();
    expect(runs(lines)).toHaveLength(2);
    expect(said(lines)).toContain(
      "journal warning: its class asks for the cluster-wide token, which its owner approved",
    );
  });

  it("gate: a payload without a renderer", () => {
    const m = asks("image", { clusterTokenApproved: true });
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["RequestWaits/unsupported-class"]);
  });

  it("gate: a class that installs nothing, or cannot attest, needs no pin: it wipes", () => {
    const m = asks("debian");
    expect(runs(m.pass())).toHaveLength(2);
    const n = asks("tpmless");
    expect(runs(n.pass())).toHaveLength(2);
    expect(n.bootPlane?.workflows[0]?.templateRef).toBe("wipe");
  });

  it("gate: approved_eks changed after a pass: nothing but a retirement runs until an owner sets planned", () => {
    const m = installed();
    m.write({ approvedEks: [{ digest: `sha256:${"c".repeat(64)}`, source: "SCAN:2" }] });
    m.owner({ desiredAction: "provision" }, request(2));
    expect(runs(m.pass())).toEqual([]);
    expect(conditions(m)).toEqual(["RequestWaits/identity-changed", "IdentityChanged/eks-changed"]);
  });

  it("gate: a device with a Node is not touched while the cluster does not answer", () => {
    const m = installed();
    m.cluster = null;
    m.owner({ desiredAction: "provision" }, request(2));
    expect(runs(m.pass())).toEqual([]);
    expect([conditions(m), m.device.status]).toEqual([["RequestWaits/cluster-unavailable"], "active"]);
  });

  it("gate: Tinkerbell down: nothing is started, and that is said", () => {
    const m = installed();
    m.owner({ desiredAction: "attest" }, request(2));
    m.bootPlane = null;
    expect(acts(m.pass())).toEqual([]);
    expect(conditions(m)).toContain("BootPlaneUnavailable/boot-plane-unavailable");
    expect(m.device.desiredAction).toBe("attest");
  });

  it("gate: a Workflow that is rendered otherwise than its Template says is deleted", () => {
    const m = declared();
    m.owner({ desiredAction: "wipe" }, request(2));
    m.pass();
    m.agent(0, "PENDING", "PENDING");
    m.template =
      "tasks:\n  - actions:\n      - name: disk-guard\n        image: tools\n        command: [disk-guard]\n";
    const lines = m.pass();
    expect(acts(lines)).toContain("delete Workflow f7-wipe-00000002aaaa-1");
    expect(said(lines).join()).toContain("is not what its Template says");
    expect(m.record.run).toMatchObject({ result: "failed" });
  });

  it("allowPXE: on exactly while a run is unfinished", () => {
    const m = installed();
    const pxe = () => m.bootPlane?.hardware.map((h) => h.allowPxe);
    expect(pxe()).toEqual([false]);
    m.owner({ desiredAction: "attest" }, request(2));
    m.pass();
    expect(pxe()).toEqual([true]);
    if (m.bootPlane !== null)
      m.bootPlane.hardware = m.bootPlane.hardware.map((h) => ({ ...h, allowPxe: false, spec: {} }));
    m.pass();
    expect(pxe(), "somebody switched it off").toEqual([true]);
    attests(m);
    m.agent(1, "SUCCESS");
    m.pass();
    expect(pxe()).toEqual([false]);
  });
});
