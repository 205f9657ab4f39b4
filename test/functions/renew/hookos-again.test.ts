import { X509Certificate } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attest, openedCode } from "../../recorded/session.ts";
import { Node } from "./node.ts";
import { enrolling, SoftwareNodeTpm } from "./node-tpm.ts";
import { ID, RenewWorld, SIGNERS } from "./world.ts";

let tpm: SoftwareNodeTpm;
let world: RenewWorld;
beforeEach(async () => {
  tpm = await SoftwareNodeTpm.open();
  world = await RenewWorld.start({ eks: tpm.eks.map((ek) => ek.digest) });
});
afterEach(async () => {
  await world.close();
  await tpm.close();
});

const machine = (node: Node) => ({
  tpm: enrolling(tpm, node.ldevid),
  keys: { ak: node.lak, otherAk: node.lak, ldevid: node.ldevid },
  eventLog: node.eventLog,
  report: { commandLine: node.commandLine, lldp: null },
});
/** A change of the owner's, apart from its neighbours in time. */
async function owner(change: Parameters<typeof world.deps.world.netbox.owner>[1]): Promise<void> {
  for (let step = 0; step < 2; step++) {
    if (step === 1) world.deps.world.netbox.owner(ID, change);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("HookOS once more after the code was stored: what is read holds the first certificates, and they renew", async () => {
  await tpm.powerOn([]);
  const node = new Node(tpm, world, await tpm.create("lak"), await tpm.create("ldevid"));
  await node.boot("hookos", world.hookosCommandLine);
  const first = await attest(world.device, machine(node));
  expect(first.body.outcome).toBe("install");
  const code = await openedCode(machine(node), first);
  node.certificates = { ldevid: String(first.body.ldevid), lak: String(first.body.lak) };
  // The action that stores the code has succeeded; a power cut comes before the disk is booted.
  const [workflow] = (await world.deps.world.bootPlane.objects()).workflows;
  if (workflow === undefined) throw new Error("no Workflow");
  const actions = workflow.actions.map((one) => ({
    ...one,
    state: ["next-boot", "reboot"].includes(one.name) ? ("PENDING" as const) : ("SUCCESS" as const),
  }));
  world.deps.world.bootPlane.change(workflow.name, { state: "RUNNING", actions });
  await world.pass();
  const second = await attest(world.device, machine(node));
  expect([second.status, second.body.outcome]).toEqual([200, "attested"]);
  expect(second.body.ldevid).not.toBe(first.body.ldevid);
  const got = await fetch(`${world.device}/talos/config?uuid=${await world.uuid()}&code=${code}`);
  expect(got.status).toBe(200);
  expect(await got.text()).toContain(node.certificates.ldevid.split("\n")[3]);
  await world.becomesActive();
  const serial = new X509Certificate(node.certificates.ldevid).serialNumber.toLowerCase();
  expect((await world.record()).identity?.ldevid.serialNumber).toBe(serial);
  await node.boot("os", world.osCommandLine);
  await node.renewed();
});

test("quotes of both kinds fail: each cause stands until a pass of its own kind", async () => {
  const node = await Node.installed(tpm, world);
  await node.boot("foreign", world.osCommandLine);
  expect((await node.renewal()).body.code).toBe("authority-not-accepted");
  await node.boot("foreign", world.hookosCommandLine);
  expect((await attest(world.device, machine(node))).code).toBe("authority-not-accepted");
  await world.pass();
  expect((await world.record()).quarantine).toMatchObject({ by: "renewal", also: "intake" });

  await node.boot("os", world.osCommandLine);
  expect((await node.renewal()).body.code).toBe("quarantined");
  expect((await node.renewal()).body.code).toBe("quarantined");
  await world.pass();
  const standing = await world.record();
  expect([standing.quarantine?.by, standing.quarantine?.also]).toEqual(["intake", undefined]);
  // A quarantine's verdict is fail, whatever else passed since.
  expect(standing.verdict).toMatchObject({ result: "fail", by: "intake", codes: ["authority-not-accepted"] });
  expect(world.deps.world.netbox.row(ID).shown.attestationVerdict).toBe("fail");

  await node.boot("hookos", world.hookosCommandLine);
  expect((await attest(world.device, machine(node))).body.outcome).toBe("attested");
  expect((await world.record()).quarantine).toBeNull();
  await node.boot("os", world.osCommandLine);
  await node.renewed();
});

test("an edit of fleet_class ends no quarantine: an active device's HookOS is judged by the installed class", async () => {
  const texts = world.deps.world.policyTexts;
  const classes = texts.classes as Record<string, object>;
  const kind = classes["talos-worker"];
  const foreign = { name: "foreign", bank: "sha256", authorities: [{ pem: SIGNERS.foreign.pem, for: ["hookos"] }] };
  world.deps.world.policyTexts = {
    ...texts,
    classes: { ...classes, lenient: { ...kind, profile: "foreign" }, loose: { ...kind, secureBoot: "off" } },
    profiles: { ...texts.profiles, foreign },
  };
  const node = await Node.installed(tpm, world);
  await node.boot("foreign", world.hookosCommandLine);
  for (const fleetClass of ["talos-worker", "lenient", "loose"]) {
    await owner({ fleetClass });
    const refused = await attest(world.device, machine(node));
    expect([fleetClass, refused.status, refused.code]).toEqual([fleetClass, 403, "authority-not-accepted"]);
    expect((await world.record()).quarantine).toMatchObject({ by: "intake" });
  }
  // Planned again, the next provision's class counts.
  await owner({ fleetClass: "lenient", status: "planned" });
  const planned = await attest(world.device, machine(node));
  expect([planned.step, planned.code]).not.toContain("authority-not-accepted");
  expect((await world.record()).verdict?.result).toBe("pass");
});
