import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it, test } from "vitest";
import { LabAuthority } from "../../../infra/lab/kubernetes/authority.ts";
import { keySigner } from "../../../shared/adapters/ca/key-file.ts";
import { issueIdentity } from "../../../shared/attest/issue.ts";
import { readPublic } from "../../../shared/attest/keys.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { flipped } from "../attest/machine.ts";
import { boxed, expectRefused } from "./box.ts";
import { type Body, base64, Node, post } from "./node.ts";
import { SoftwareNodeTpm } from "./node-tpm.ts";
import { ID, RenewWorld } from "./world.ts";

const HOUR_MS = 3_600_000;
const box = boxed();

/** The LDevID and LAK that an issuer would make for this node. */
async function issuedBy(authority: { readonly keyPem: string; readonly pem: string }, lifetimeMs = 86_400_000) {
  const { node, tpm } = box();
  const files = { keyFile: "key", chainFile: "chain" };
  const signer = keySigner(files, { key: authority.keyPem, chain: authority.pem });
  const { ldevidPem, lakPem } = await issueIdentity(signer, {
    deviceName: "w1",
    chassisSerial: "SN0001",
    trustDomain: "example.org",
    approvedEks: tpm.eks.map((ek) => ek.digest),
    ldevid: readPublic(node.ldevid.public),
    lak: readPublic(node.lak.public),
    nowMs: Date.now(),
    lifetimeMs,
    random: (count) => new Uint8Array(count).fill(7),
  });
  return { ldevid: ldevidPem, lak: lakPem };
}

describe("identity-unknown", () => {
  it.each<[string, () => Promise<Body> | Body]>([
    ["certificates of another issuer", () => issuedBy(fakeAuthority("Another issuer"))],
    // The same names, another key.
    ["certificates of an issuer of the trusted one's name", () => issuedBy(fakeAuthority("Lab device issuer"))],
    [
      "the LAK's certificate in the LDevID's place",
      () => ({ ldevid: box().node.certificates.lak, lak: box().node.certificates.lak }),
    ],
    [
      "the LDevID's certificate in the LAK's place",
      () => ({ ldevid: box().node.certificates.ldevid, lak: box().node.certificates.ldevid }),
    ],
    [
      "a certificate that is no node's",
      () => {
        const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
        const spki = publicKey.export({ type: "spki", format: "der" });
        const pem = new LabAuthority("root").issue({ commonName: "w1", use: "authority" }, spki);
        return { ldevid: pem, lak: pem };
      },
    ],
  ])("%s", async (_what, shown) => {
    expectRefused(await box().node.begin(await shown()), 403, "identity-unknown");
  });

  it("certificates by the right issuer that no record has: only the recorded ones count", async () => {
    const { world, node } = box();
    const { signer } = world.deps.world;
    const shown = await issueIdentity(signer, {
      deviceName: "w1",
      chassisSerial: "SN0001",
      trustDomain: "example.org",
      approvedEks: box().tpm.eks.map((ek) => ek.digest),
      ldevid: readPublic(node.ldevid.public),
      lak: readPublic(node.lak.public),
      nowMs: Date.now(),
      lifetimeMs: 86_400_000,
      random: (count) => new Uint8Array(count).fill(7),
    });
    const answer = await node.begin({ ldevid: shown.ldevidPem, lak: shown.lakPem });
    expectRefused(answer, 403, "identity-unknown");
    expectRefused(await node.begin({ ...node.certificates, lak: shown.lakPem }), 403, "identity-unknown");
  });

  it("a byte of a certificate that is another", async () => {
    const { node } = box();
    const der = Buffer.from(node.certificates.ldevid.split("-----")[2] ?? "", "base64");
    const answer = await node.begin({ ...node.certificates, ldevid: flipped(base64(der), -1) });
    expectRefused(answer, 403, "identity-unknown");
    const same = { ...node.certificates, ldevid: base64(der) };
    expect((await node.begin(same)).status).toBe(200);
  });

  it("a record without an identity: it was lost, or the device was retired", async () => {
    const { world, node } = box();
    const request = await node.request(await node.begun());
    await world.change({ identity: null });
    expectRefused(await node.begin(), 403, "identity-unknown");
    expectRefused(await node.evidence(request), 403, "identity-unknown");
  });

  it("a recorded certificate that has expired", async () => {
    const { tpm } = box();
    const eks = tpm.eks.map((ek) => ek.digest);
    const world = await RenewWorld.start({ eks, durations: { identityMs: 2 * HOUR_MS } });
    const node = await Node.installed(tpm, world);
    await node.begun();
    Object.assign(world.deps.world, { clock: { nowMs: () => Date.now() + 2 * HOUR_MS } });
    expectRefused(await node.begin(), 403, "identity-unknown");
    await world.close();
  });

  it("the identity before, longer ago than the overlap, though the new one was never used", async () => {
    const { world, node } = box();
    await node.renewal();
    const { replacedIdentity } = await world.record();
    if (replacedIdentity === null) throw new Error("no identity before");
    const { identityOverlapMs } = world.deps.world.settings.durations;
    const replacedAtMs = (ago: number) => ({ ...replacedIdentity, replacedAtMs: Date.now() - ago });
    await world.change({ replacedIdentity: replacedAtMs(identityOverlapMs - 60_000) });
    const request = await node.request(await node.begun());
    await world.change({ replacedIdentity: replacedAtMs(identityOverlapMs + 1) });
    expectRefused(await node.begin(), 403, "identity-unknown");
    expectRefused(await node.evidence(request), 403, "identity-unknown");
  });
});

describe("policy of the class that was installed", () => {
  test("unsupported-class: it does not renew", async () => {
    const { world, node } = box();
    const { installed } = await world.record();
    if (installed === null) throw new Error("nothing installed");
    const request = await node.request(await node.begun());
    const cls = { ...installed.class, class: { ...installed.class.class, reattest: "netboot" as const } };
    await world.change({ installed: { ...installed, class: cls } });
    expectRefused(await node.begin(), 403, "unsupported-class");
    expectRefused(await node.evidence(request), 403, "unsupported-class");
  });

  test("another class in NetBox changes nothing until the next provision", async () => {
    const { world, node } = box();
    world.deps.world.netbox.owner(ID, { fleetClass: "other" });
    await node.renewed();
  });

  test("profile-missing: git has it no more", async () => {
    const { world, node } = box();
    const { policyTexts } = world.deps.world;
    const request = await node.request(await node.begun());
    world.deps.world.policyTexts = { ...policyTexts, profiles: {} };
    const answer = await node.evidence(request);
    world.deps.world.policyTexts = policyTexts;
    expectRefused(answer, 403, "profile-missing");
  });

  test("a control plane that fails keeps its place: verdict alone", async () => {
    const { world, node } = box();
    const { installed } = await world.record();
    if (installed === null) throw new Error("nothing installed");
    const cls = { ...installed.class, class: { ...installed.class.class, workload: "controlplane" as const } };
    await world.change({ installed: { ...installed, class: cls } });
    await node.boot("foreign", "fleet_stage=os");
    expectRefused(await node.renewal(), 403, "authority-not-accepted");
    expect(await world.record()).toMatchObject({ verdict: { result: "fail", by: "renewal" }, quarantine: null });
  });

  test("when many fail at once nobody is quarantined", async () => {
    const { world, node } = box();
    const { records } = world.deps.world;
    const fleet = await records.fleet();
    const failed = [11, 12, 13, 14, 15].map((deviceId) => ({ deviceId, atMs: Date.now() }));
    const text = JSON.stringify({ ...JSON.parse(fleet?.text ?? "{}"), failed });
    await records.putFleet(text, fleet?.resourceVersion ?? null);
    await node.boot("foreign", "fleet_stage=os");
    expectRefused(await node.renewal(), 403, "authority-not-accepted");
    expect(await world.record()).toMatchObject({ verdict: { result: "fail" }, quarantine: null });
  });

  test("quarantined by a quote of HookOS: a passing renewal is judged, and lifts nothing", async () => {
    const { world, node } = box();
    const quarantine = { by: "intake" as const, sinceMs: 1, node: "w1" };
    await world.change({ quarantine });
    const { identity } = await world.record();
    const answer = await node.renewal();
    expectRefused(answer, 403, "quarantined");
    expect(answer.body).toMatchObject({ verdict: { result: "pass" } });
    expect(await world.record()).toMatchObject({ quarantine, identity, verdict: { by: "renewal", result: "pass" } });
  });

  test("another TPM's certificates for the same name and serial, of the same issuer: not the recorded ones", async () => {
    const { node } = box();
    const tpm = await SoftwareNodeTpm.open();
    const world = await RenewWorld.start({ eks: tpm.eks.map((ek) => ek.digest) });
    await Node.installed(tpm, world);
    expectRefused(await post(world.admin, "/renew/v1/begin", node.certificates), 403, "identity-unknown");
    await world.close();
    await tpm.close();
  });
});
