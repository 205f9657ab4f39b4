import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { attestApp } from "../../../functions/attest/app.ts";
import { lookupApp } from "../../../functions/lookup/app.ts";
import { SoftTpm } from "../../../infra/lab/tpm/soft-tpm.ts";
import { loadFleet, parseRecord } from "../../../shared/engine/records.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";
import { vector } from "../../vectors/read.ts";
import { expectCode } from "./box.ts";
import { base64, Machine } from "./machine.ts";

// A mainboard is replaced: the chassis keeps its serial, its TPM and UUID are others. The old binding refuses it, its claim
// is shown, and only what the owner writes into NetBox from independent evidence lets it in (spec/10, section 1).

const directory = mkdtempSync(join(tmpdir(), "fleetd-swap-"));
const issuer = fakeAuthority("Device CA");
const boots = fakeAuthority("Boot authority");
let oldBoard: SoftTpm;
let newBoard: SoftTpm;
let deps: FakeDeps;
let server: ServerType;
let url: string;
let before: Machine;
let after: Machine;

const bindings = (digests: readonly string[], source: string) => digests.map((digest) => ({ digest, source }));
const record = async () => {
  const stored = await deps.world.records.get(7);
  return stored === null ? null : parseRecord(stored);
};
const claims = async () => {
  const answer = await lookupApp(deps, () => ({})).request("/claims");
  return ((await answer.json()) as { claims: Record<string, unknown>[] }).claims;
};

async function machineOf(tpm: SoftTpm, serial?: string, uuid?: string): Promise<Machine> {
  const machine = new Machine(tpm, url);
  if (serial !== undefined) Object.assign(machine, { serial });
  if (uuid !== undefined) Object.assign(machine, { uuid });
  await machine.boot({ authority: boots.der, dbCertificates: [boots.der], secureBoot: true });
  return machine;
}

beforeAll(() => {
  oldBoard = new SoftTpm(join(directory, "old"));
  newBoard = new SoftTpm(join(directory, "new"));
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(async () => {
  const talos = { name: "talos", bank: "sha256", authorities: [{ pem: boots.pem, for: ["hookos"] }] };
  const policy = { classes: CLASSES, classInputs: null, ekPins: null, profiles: { talos }, talosSecrets: null };
  const settings = { ...SETTINGS, durations: { ...SETTINGS.durations, inventoryCopyMs: 1 } };
  deps = fakeDeps(await fakeWorld({ directory, issuer, policy, settings }));
  await loadFleet(deps.world);
  server = createAdaptorServer({ fetch: attestApp(deps).fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  before = await machineOf(oldBoard);
  const approvedEks = bindings(await oldBoard.ekDigests(), "SCAN:receiving 1");
  deps.world.netbox.declare({ ...aDevice(), status: "active", serial: before.serial, approvedEks });
  expect((await before.evidence(await before.begun())).status).toBe(200);
  after = await machineOf(newBoard, before.serial);
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const change = async (row: Record<string, unknown>, id = 7) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  deps.world.netbox.owner(id, row);
  await new Promise((resolve) => setTimeout(resolve, 5));
};
const sorted = async (tpm: SoftTpm) => [...(await tpm.ekDigests())].sort();
const approve = async (tpm: SoftTpm, row: Record<string, unknown> = {}) =>
  change({ approvedEks: bindings(await tpm.ekDigests(), "SUPPLIER:delivery 9"), ...row });

it("refused by the old binding, claimed, and let in by the owner's word alone", async () => {
  const certificate = base64(vector("vm/lab-sb-on/ek-rsa.crt.der"));
  const eks = newBoard.eks().map((area) => ({ public: base64(area), certificate }));
  for (let tries = 0; tries < 3; tries++) expectCode(await after.begin({ eks }), 409, "ek-not-approved");
  expect(await record()).toMatchObject({ uuid: before.uuid, passedEks: [...(await oldBoard.ekDigests())].sort() });
  expect(deps.world.netbox.row(7).approvedEks).toEqual(bindings(await oldBoard.ekDigests(), "SCAN:receiving 1"));

  const [claim, ...others] = await claims();
  expect(others).toEqual([]);
  expect(claim).toMatchObject({ serial: before.serial, device: "w1", code: "ek-not-approved", contested: false });
  expect(claim?.eks).toEqual(
    (await newBoard.ekDigests()).map((digest) => ({
      digest,
      certificate,
      issuer: "CN=swtpm-localca",
      says: expect.stringMatching(
        /^of another key than this EK, sha256:[0-9a-f]{64}, TPM id:00001014 .*no FLEET_EK_ROOTS$/,
      ),
    })),
  );

  // The owner compared the claim with the supplier's record; the device still counts as the one that was installed.
  const approvedEks = bindings(await newBoard.ekDigests(), "SUPPLIER:delivery 9, board 3");
  await change({ approvedEks });
  expectCode(await before.begin(), 409, "ek-not-approved");
  expectCode(await after.begin(), 409, "identity-changed");
  expect(await record()).toMatchObject({ uuid: before.uuid });

  await change({ status: "planned" });
  expect((await claims()).map((one) => one.uuid).sort()).toEqual([before.uuid, after.uuid].sort());
  expect((await after.evidence(await after.begun())).status).toBe(200);
  expect(await record()).toMatchObject({ uuid: after.uuid, passedEks: [...(await newBoard.ekDigests())].sort() });
  // What the new one asked for has happened: it is no claim any more.
  expectCode(await before.begin(), 409, "ek-not-approved");
  expect((await claims()).map((one) => one.uuid)).toEqual([before.uuid]);
});

it("planned and the EKs in one save are the owner's word as well", async () => {
  await approve(newBoard, { status: "planned" });
  expect((await after.evidence(await after.begun())).status).toBe(200);
  expect(await record()).toMatchObject({ uuid: after.uuid, acceptedEks: null });
});

it("a device that is planned already is no word for an edit that follows", async () => {
  await change({ status: "planned" });
  await approve(newBoard);
  expectCode(await after.begin(), 409, "identity-changed");
  await change({ status: "active" });
  expectCode(await after.begin(), 409, "identity-changed");
  await change({ status: "planned" });
  // Nothing is accepted while the change log is away.
  const { changes } = deps.world.netbox;
  deps.world.netbox.changes = () => Promise.reject(new PortError("unavailable", "netbox", "no answer"));
  const unread = await after.begin();
  expect([unread.status, unread.body.code]).toEqual([503, "inventory-unavailable"]);
  deps.world.netbox.changes = changes;
  expect((await after.begin()).status).toBe(200);
});

it("planned set by fleetd itself is no word", async () => {
  await approve(newBoard);
  const row = deps.world.netbox.row(7);
  await deps.world.netbox.patchDevice(7, { status: "planned" }, row.lastUpdated);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expectCode(await after.begin(), 409, "identity-changed");
  expect(await record()).toMatchObject({ uuid: before.uuid, passedEks: await sorted(oldBoard) });
});

it("decommissioning lets no other TPM in, and a pass under it binds nothing", async () => {
  await change({ status: "decommissioning" });
  await approve(newBoard);
  expectCode(await after.begin(), 409, "identity-changed");
  await change({ status: "active" });
  expectCode(await after.begin(), 409, "identity-changed");
  expect(await record()).toMatchObject({ uuid: before.uuid, passedEks: await sorted(oldBoard) });
});

it("an edit of approved_eks frees no UUID for another row", async () => {
  const thief = await machineOf(newBoard, "THIEF1", before.uuid);
  const host = { id: 99, name: "eno1", managementOnly: false, primaryMac: null, macs: [], peer: null };
  const nothingShared = { interfaces: [host], oobAddress: null, installDiskSerial: null, address: null };
  const approvedEks = bindings(await newBoard.ekDigests(), "SCAN:1");
  const row = { ...aDevice(), ...nothingShared, id: 8, name: "w2", serial: "THIEF1", status: "active", approvedEks };
  deps.world.netbox.declare(row);
  await change({}, 8);
  expectCode(await thief.begin(), 409, "uuid-conflict");
  await change({ approvedEks: "oops" });
  expectCode(await thief.begin(), 409, "uuid-conflict");
  await change({ approvedEks: bindings(["sha256:".padEnd(71, "e")], "SCAN:2"), status: "planned" });
  await change({ approvedEks: bindings(await oldBoard.ekDigests(), "SCAN:1"), status: "active" });
  expect((await before.begin()).status).toBe(200);
});

it("approved EKs fewer than begin proved: identity-changed, also where none has passed", async () => {
  await deps.world.records.remove(7, (await deps.world.records.get(7))?.resourceVersion ?? "");
  await change({ status: "planned" });
  const begun = await before.begun();
  const [one = ""] = await oldBoard.ekDigests();
  await change({ approvedEks: bindings([one], "SCAN:1") });
  expectCode(await before.evidence(begun), 409, "identity-changed");
  expect((await before.evidence(await before.begun())).status).toBe(200);
  expect(await record()).toMatchObject({ passedEks: [one] });
});

/** The next evidence waits, its machine already judged, until it is let go. */
function held(): () => void {
  const { files } = deps.world;
  const { writeEvidence } = files;
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  Object.assign(files, {
    writeEvidence: async (...args: Parameters<typeof writeEvidence>) => {
      Object.assign(files, { writeEvidence });
      await gate;
      return writeEvidence(...args);
    },
  });
  return release;
}

it("the old machine's late evidence puts nothing back", async () => {
  await change({ status: "planned" });
  const begun = await before.begun();
  const release = held();
  const late = before.evidence(begun);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await approve(newBoard);
  await change({ status: "active" });
  await change({ status: "planned" });
  expect((await after.evidence(await after.begun())).status).toBe(200);
  release();
  expectCode(await late, 409, "identity-changed");
  expect(await record()).toMatchObject({
    uuid: after.uuid,
    passedEks: await sorted(newBoard),
    verdict: { result: "pass" },
  });
});

it.each([
  [{ status: "offline" }, "not-expected"],
  [{ name: "w9" }, "identity-changed"],
] as const)("NetBox is read again before a certificate: %o", async (row, code) => {
  const begun = await before.begun();
  const release = held();
  const late = before.evidence(begun);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await change(row);
  release();
  const answer = await late;
  expectCode(answer, 409, code);
  expect(answer.body.ldevid).toBeUndefined();
});

it("a claim is not written over by whoever repeats its public areas: both stand, contested", async () => {
  const eks = newBoard.eks().map((area) => ({ public: base64(area) }));
  expectCode(await after.begin({ eks }), 409, "ek-not-approved");
  const certificate = base64(vector("vm/lab-sb-on/ek-rsa.crt.der"));
  const stranger = { eks: eks.map((ek) => ({ ...ek, certificate })), uuid: "11111111-2222-4333-8444-555555555555" };
  expectCode(await after.begin(stranger), 409, "ek-not-approved");
  const kept = (await claims()) as { uuid: string; contested: boolean; eks: { says: string | null }[] }[];
  expect(kept.map((claim) => claim.contested)).toEqual([true, true]);
  const honest = kept.find((claim) => claim.uuid === after.uuid);
  expect(honest?.eks.map((ek) => ek.says)).toEqual([null, null]);
  const other = kept.find((claim) => claim.uuid !== after.uuid);
  expect(other?.eks.every((ek) => ek.says?.startsWith("of another key than this EK, "))).toBe(true);
});

it("a machine that is declared after it came is no rival of its own claim", async () => {
  const stranger = await machineOf(newBoard);
  expectCode(await stranger.begin(), 409, "unknown-serial");
  deps.world.netbox.declare({
    ...aDevice(),
    ...{ id: 8, name: "w8", serial: stranger.serial, approvedEks: [] },
    ...{ interfaces: [], oobAddress: null, installDiskSerial: null },
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expectCode(await stranger.begin(), 409, "ek-not-approved");
  const own = (await claims()).filter((claim) => claim.serial === stranger.serial);
  expect(own).toMatchObject([{ device: "w8", code: "ek-not-approved", contested: false }]);
});

it("the owner's word between the two steps ends the session", async () => {
  const begun = await before.begun();
  await change({ approvedEks: bindings([...(await oldBoard.ekDigests()), ...(await newBoard.ekDigests())], "SCAN:2") });
  expectCode(await before.evidence(begun), 409, "identity-changed");
  expect(await record()).toMatchObject({ passedEks: [...(await oldBoard.ekDigests())].sort() });
});

it("the same TPM under another UUID is no new mainboard", async () => {
  const moved = await machineOf(oldBoard, before.serial);
  expectCode(await moved.begin(), 409, "uuid-conflict");
});

it("EK certificates are kept in the bundle and shown in the verdict, with their chain where roots are given", async () => {
  const ekRoots = ["ekca/issuer.pem", "ekca/root.pem"].map((file) => vector(`vm/${file}`));
  const { readCertificatePems } = await import("../../../shared/formats/x509/pem.ts");
  const ders = ekRoots.flatMap((pem) => readCertificatePems(new TextDecoder().decode(pem)));
  deps.world.policyTexts = { ...deps.world.policyTexts, ekRoots: ders };
  const certificate = base64(vector("vm/lab-sb-on/ek-rsa.crt.der"));
  const eks = oldBoard.eks().map((area, i) => ({ public: base64(area), ...(i === 0 ? { certificate } : {}) }));
  const { body } = await before.begin({ eks });
  const answer = await before.evidence(body as never);
  expect(answer.status).toBe(200);
  expect(
    (answer.body.verdict as { checks: { name: string }[] }).checks.find((check) => check.name === "ek-certificate"),
  ).toEqual({
    name: "ek-certificate",
    ok: true,
    seen: expect.stringMatching(/^of another key than this EK, .*chain to CN=swtpm-localca-rootca$/),
    expected: "recorded only",
  });
  expect(JSON.parse(deps.world.evidence.at(-1)?.json ?? "{}").ekCertificates).toEqual([certificate]);
});
