import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeCommonName } from "../../../shared/attest/certificates.ts";
import { fleetView } from "../../../shared/engine/fleet-view.ts";
import { spireNodes } from "../../../shared/fleet/manifests/spire-nodes.ts";
import { attest, type Machine } from "../../recorded/session.ts";
import { Node } from "./node.ts";
import { enrolling, SoftwareNodeTpm } from "./node-tpm.ts";
import { ID, RenewWorld } from "./world.ts";

// Whoever may write approved_eks, and nothing else, tries to put his own TPM in the place of a running node's.

let world: RenewWorld;
let tpm: SoftwareNodeTpm;
let other: SoftwareNodeTpm;
let node: Node;
const digests = (of: SoftwareNodeTpm) => of.eks.map((ek) => ek.digest).sort();
const bindings = (of: SoftwareNodeTpm, source: string) => digests(of).map((digest) => ({ digest, source }));
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
const owner = async (row: Parameters<RenewWorld["deps"]["world"]["netbox"]["owner"]>[1]) => {
  await pause();
  world.deps.world.netbox.owner(ID, row);
  await pause();
};
const passes = async (count: number) => {
  for (let n = 0; n < count; n++) await world.pass();
};
const listed = async () => spireNodes(await fleetView(world.deps.world), world.deps.world.settings, Date.now());
const conditions = async () => (await world.record()).conditions.map((c) => `${c.type}/${c.reason}`);
const dangers = () =>
  world.deps.world.netbox.journal.filter((line) => line.level === "danger").map((line) => line.text);

/** A machine with the other TPM and a boot that the class accepts. */
async function stranger(): Promise<Machine> {
  await other.powerOn([]);
  const fresh = new Node(other, world, await other.create("lak"), await other.create("ldevid"));
  await fresh.boot("hookos", world.hookosCommandLine);
  return {
    tpm: enrolling(other, fresh.ldevid),
    keys: { ak: fresh.lak, otherAk: fresh.lak, ldevid: fresh.ldevid },
    eventLog: fresh.eventLog,
    report: { commandLine: fresh.commandLine, lldp: null },
  };
}

/** The agent reports that the first action of the device's Workflow failed. */
async function failed(): Promise<void> {
  const { bootPlane } = world.deps.world;
  const [workflow] = (await bootPlane.objects()).workflows;
  if (workflow === undefined) throw new Error("no Workflow");
  const actions = workflow.actions.map((action, i) => ({ ...action, state: i === 0 ? "FAILED" : "PENDING" }) as const);
  bootPlane.change(workflow.name, { state: "FAILED", actions });
}

beforeEach(async () => {
  tpm = await SoftwareNodeTpm.open();
  other = await SoftwareNodeTpm.open();
  world = await RenewWorld.start({ eks: tpm.eks.map((ek) => ek.digest) });
  node = await Node.installed(tpm, world);
});
afterEach(() => world.close());

it("an edit under the owner's own request lets nobody in, before its run and after it", async () => {
  await passes(4);
  await owner({ desiredAction: "provision" });
  await passes(4);
  expect(world.deps.world.netbox.row(ID).status).toBe("planned");
  const first = (await world.record()).run;
  expect(first).toMatchObject({ kind: "provision", phase: "waiting", eks: digests(tpm) });

  await owner({ approvedEks: bindings(other, "SCAN:forged") });
  await passes(1);
  expect(await conditions()).toContain("IdentityChanged/eks-changed");
  const [line = ""] = dangers();
  expect(line).toMatch(/^approved_eks changed after a pass: .*REINSTALLS the machine.*protected/);
  const evil = await stranger();
  const answer = await attest(world.device, evil);
  expect([answer.step, answer.status, answer.code]).toEqual(["begin", 409, "identity-changed"]);
  const record = await world.record();
  expect(record).toMatchObject({ passedEks: digests(tpm), pendingIdentity: null, acceptedEks: null });
  expect(record.identity?.subject).toContain(`CN=${nodeCommonName("w1", digests(tpm))}`);

  await failed();
  await passes(4);
  await owner({ desiredAction: "provision" });
  await passes(6);
  // The second request is a request of its own, and waits.
  expect((await world.record()).run?.name).toBe(first?.name);
  expect((await world.record()).run?.phase).toBe("ended");
  expect(await conditions()).toContain("RequestWaits/identity-changed");
  const again = await attest(world.device, evil);
  expect([again.step, again.status, again.code]).toEqual(["begin", 409, "identity-changed"]);

  await owner({ approvedEks: bindings(tpm, "SCAN:1") });
  await passes(6);
  const second = (await world.record()).run;
  expect(second).toMatchObject({ phase: "waiting", eks: digests(tpm) });
  expect(second?.name).not.toBe(first?.name);
});

it("the list for SPIRE names no TPM that is not approved, nor the old one once another passed", async () => {
  const [own] = await listed();
  expect(own?.ldevid_subject).toContain(`CN=${nodeCommonName("w1", digests(tpm))}`);
  await owner({ approvedEks: bindings(other, "SCAN:2") });
  expect(await listed()).toEqual([]);
  await owner({ status: "planned" });
  const answer = await attest(world.device, await stranger());
  expect([answer.step, answer.status]).toEqual(["confirm", 200]);
  await owner({ status: "active" });
  await passes(2);
  expect(await listed()).toEqual([]);
  expect((await world.record()).identity).toBeNull();
  expect((await node.begin()).body.code).toBe("identity-unknown");
});

it("a serial in another case, and a new name, leave the node where it was", async () => {
  await owner({ serial: "sn0001" });
  await passes(1);
  expect((await listed()).map((one) => [one.name, one.serial])).toEqual([["w1", "sn0001"]]);
  await node.renewed();
  await owner({ name: "w9" });
  await passes(1);
  expect((await listed()).map((one) => one.spiffe_id)).toEqual(["spiffe://example.org/node/w1"]);
  expect(await conditions()).toContain("InstalledName/name-changed");
  await node.renewed();
});
