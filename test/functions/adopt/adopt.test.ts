import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keySigner } from "../../../shared/adapters/ca/key-file.ts";
import { type Issued, issueIdentity } from "../../../shared/attest/issue.ts";
import { readPublic } from "../../../shared/attest/keys.ts";
import { recordSchema } from "../../../shared/fleet/record.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { run } from "../../infra/fleetctl/cli.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { expectRefused } from "../renew/box.ts";
import { Node, post } from "../renew/node.ts";
import { type NodeKey, SoftwareNodeTpm } from "../renew/node-tpm.ts";
import { ADMIN_TOKEN, ID, RenewWorld } from "../renew/world.ts";

const OLDER = fakeAuthority("Older device issuer");
const STRANGER = fakeAuthority("Stranger's issuer");
/** Issuer certificate alone: what stands above it is not needed to accept a node. */
const leafOf = (pem: string) => `${pem.split("-----END CERTIFICATE-----")[0]}-----END CERTIFICATE-----\n`;

let tpm: SoftwareNodeTpm;
let world: RenewWorld;
let lak: NodeKey;
let ldevid: NodeKey;
beforeEach(async () => {
  tpm = await SoftwareNodeTpm.open();
  await tpm.powerOn([]);
  [lak, ldevid] = [await tpm.create("lak"), await tpm.create("ldevid")];
  world = await RenewWorld.start({ eks: tpm.eks.map((ek) => ek.digest) });
  world.deps.world.netbox.owner(ID, { status: "active" });
  const { signer } = world.deps.world;
  const trusted = [...(await signer.trusted()), OLDER.der];
  Object.assign(signer, { trusted: async () => trusted });
});
afterEach(async () => {
  await world.close();
  await tpm.close();
});

/** What an installation before this one gave the node. */
function issued(change: Partial<Parameters<typeof issueIdentity>[1]> = {}, by = OLDER): Promise<Issued> {
  const signer = keySigner({ keyFile: "key", chainFile: "chain" }, { key: by.keyPem, chain: by.pem });
  return issueIdentity(signer, {
    deviceName: "w1",
    chassisSerial: aDevice().serial,
    trustDomain: "example.org",
    approvedEks: tpm.eks.map((ek) => ek.digest),
    ldevid: readPublic(ldevid.public),
    lak: readPublic(lak.public),
    nowMs: Date.now(),
    lifetimeMs: 86_400_000,
    random: (count) => world.deps.world.entropy.bytes(count),
    ...change,
  });
}

const adopt = (certificates: string, name = "w1") =>
  post(world.admin, `/devices/${name}/adopt`, { certificates }, { authorization: `Bearer ${ADMIN_TOKEN}` });

/** The node as it runs, not enrolled by this fleetd. */
async function runningNode({ ldevidPem, lakPem }: Issued): Promise<Node> {
  const node = new Node(tpm, world, lak, ldevid);
  node.certificates = { ldevid: ldevidPem, lak: lakPem };
  await node.boot("os", "fleet_stage=os");
  return node;
}

describe("a node of an older issuer", () => {
  it("is unknown until it is adopted; then it renews, by the class that NetBox names, under the new issuer", async () => {
    const certificates = await issued();
    const node = await runningNode(certificates);
    expect((await node.begin()).body.code).toBe("identity-unknown");
    const answer = await adopt(certificates.ldevidPem + certificates.lakPem);
    expect(answer).toMatchObject({ status: 200, body: { device: "w1", class: "talos-worker" } });
    await world.pass();
    const adopted = await world.record();
    expect(adopted.installed).toMatchObject({ run: "adopted", class: { name: "talos-worker" } });
    expect(adopted.identity).toMatchObject({ ldevid: certificates.identity.ldevid, lak: certificates.identity.lak });
    expect(adopted.conditions).toMatchObject([{ type: "AttestationOld", reason: "never" }]);
    expect(world.deps.world.netbox.row(ID).shown.fleetIdentity).toMatchObject({
      ldevid: { serial: certificates.identity.ldevid.serialNumber },
    });
    expect(world.journal().join("\n")).toContain("adopted by an administrator: LDevID");
    await node.renewed();
    await world.pass();
    expect((await world.record()).conditions).toEqual([]);
    await node.renewed();
    expect(world.journal().filter((line) => line.includes("adopted by"))).toHaveLength(1);
  });

  it("again the same: nothing changes, nothing is said twice", async () => {
    const { ldevidPem, lakPem } = await issued();
    await adopt(lakPem + ldevidPem);
    const record = await world.record();
    expect((await adopt(ldevidPem + lakPem)).status).toBe(200);
    expect(await world.record()).toEqual(record);
  });

  it("a wrong boot of it is quarantined as any other", async () => {
    const certificates = await issued();
    const node = await runningNode(certificates);
    await adopt(certificates.ldevidPem + certificates.lakPem);
    await node.boot("foreign", "fleet_stage=os");
    expectRefused(await node.renewal(), 403, "authority-not-accepted");
    expect((await world.record()).quarantine).toMatchObject({ by: "renewal" });
  });
});

describe("refused, and nothing is recorded", () => {
  const refused = async (certificates: string, status: number, code: string, name = "w1") => {
    const before = (await world.deps.world.records.get(ID))?.text ?? null;
    expectRefused(await adopt(certificates, name), status, code);
    expect((await world.deps.world.records.get(ID))?.text ?? null).toBe(before);
  };
  const both = async (change?: Parameters<typeof issued>[0], by?: typeof OLDER) => {
    const { ldevidPem, lakPem } = await issued(change, by);
    return ldevidPem + lakPem;
  };

  it("identity-unknown: another issuer, another name, another TPM, another chassis, expired", async () => {
    await refused(await both({}, STRANGER), 403, "identity-unknown");
    await refused(await both({ deviceName: "w2" }), 403, "identity-unknown");
    await refused(await both({ approvedEks: [`sha256:${"e".repeat(64)}`] }), 403, "identity-unknown");
    await refused(await both({ chassisSerial: "SN0002" }), 403, "identity-unknown");
    await refused(await both({ lifetimeMs: -1000 }), 403, "identity-unknown");
    const mixed = (await issued()).ldevidPem + (await issued({ deviceName: "w2" })).lakPem;
    await refused(mixed, 403, "identity-unknown");
  });

  it("bad-request: not one LDevID and one LAK", async () => {
    const { ldevidPem, lakPem } = await issued();
    for (const pem of ["", ldevidPem, lakPem, ldevidPem + lakPem + ldevidPem, leafOf(OLDER.pem)])
      await refused(pem || "x", 400, "bad-request");
  });

  it("not-found: a name that no device has", async () => {
    await refused(await both(), 404, "not-found", "w9");
  });

  it("not-expected: a device that is not active", async () => {
    for (const status of ["planned", "decommissioning", "offline", "failed"]) {
      world.deps.world.netbox.owner(ID, { status });
      await refused(await both(), 409, "not-expected");
    }
  });

  it("ek-not-approved, class-unknown, inventory-conflict: NetBox must say first what it is", async () => {
    const certificates = await both();
    world.deps.world.netbox.owner(ID, { approvedEks: [] });
    await refused(certificates, 409, "ek-not-approved");
    const approvedEks = tpm.eks.map(({ digest }) => ({ digest, source: "SCAN:1" }));
    world.deps.world.netbox.owner(ID, { approvedEks, fleetClass: "nothing-known" });
    await refused(certificates, 409, "class-unknown");
    world.deps.world.netbox.owner(ID, { fleetClass: "talos-worker" });
    world.deps.world.netbox.declare({ ...aDevice(), id: 8, name: "w2", approvedEks: [] });
    await refused(certificates, 409, "inventory-conflict");
  });

  it("ek-not-pinned", async () => {
    world.deps.world.policyTexts = { ...world.deps.world.policyTexts, ekPins: { w1: [] } };
    await refused(await both(), 409, "ek-not-pinned");
  });

  it("identity-changed: other EKs than those that passed", async () => {
    const certificates = await both();
    await world.change({ passedEks: [`sha256:${"e".repeat(64)}`] });
    await refused(certificates, 409, "identity-changed");
  });
});

describe("fleetctl adopt", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "fleetd-adopt-"));
    writeFileSync(join(folder, "token"), `${ADMIN_TOKEN}\n`);
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const call = (device: string, ...more: string[]) =>
    run([
      ...["adopt", device, "--certificates", join(folder, "pem"), "--url", world.admin],
      ...["--token-file", join(folder, "token"), ...more],
    ]);

  it("adopts: 0; text for people, the answer for programs", async () => {
    const { ldevidPem, lakPem, identity } = await issued();
    writeFileSync(join(folder, "pem"), ldevidPem + lakPem);
    const told = await call("w1");
    expect([told.code, told.out, told.err]).toEqual([
      0,
      "w1 is adopted: judged by class talos-worker at its next renewal",
      "",
    ]);
    const { code, out } = await call("w1", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ device: "w1", identity: { ldevid: identity.ldevid } });
    const stored = await world.deps.world.records.get(ID);
    expect(recordSchema.parse(JSON.parse(stored?.text ?? "")).identity).toMatchObject({ subject: identity.subject });
  });

  it("a refusal is 1 with fleetd's words, no answer is 2, a wrong call 64", async () => {
    writeFileSync(join(folder, "pem"), leafOf(OLDER.pem));
    const refused = await call("w1");
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toMatch(/^fleetctl adopt: bad-request: certificates: holds 0 LDevID and 0 LAK/);
    expect(JSON.parse((await call("w1", "--json")).out)).toMatchObject({ code: "bad-request" });
    expect((await call("w1", "--url", "http://127.0.0.1:1")).code).toBe(2);
    rmSync(join(folder, "pem"));
    expect((await call("w1")).code).toBe(2);
    expect((await run(["adopt", "w1"])).code).toBe(64);
    expect((await run(["adopt"])).code).toBe(64);
    expect((await run(["adopt", "w1", "--certificates", "x", "--url", "ftp://x"])).code).toBe(64);
    expect((await run(["adopt", "w1", "--certificates", "x", "--url", world.admin])).code).toBe(64);
  });

  it("the wrong token: 1", async () => {
    const { ldevidPem, lakPem } = await issued();
    writeFileSync(join(folder, "pem"), ldevidPem + lakPem);
    writeFileSync(join(folder, "token"), "another-token-of-more-than-32-bytes-0123456789");
    expect(await call("w1")).toMatchObject({ code: 1, err: expect.stringContaining("unauthorized") });
  });
});
