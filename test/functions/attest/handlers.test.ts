import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { attestApp } from "../../../functions/attest/app.ts";
import { SoftTpm } from "../../../infra/lab/tpm/soft-tpm.ts";
import { loadFleet, parseRecord, updateRecord } from "../../../shared/engine/records.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";
import { aRun } from "../config/world.ts";
import { expectCode } from "./box.ts";
import { Machine } from "./machine.ts";

const directory = mkdtempSync(join(tmpdir(), "fleetd-handlers-"));
const issuer = fakeAuthority("Device CA");
const boots = fakeAuthority("Boot authority");
const others = fakeAuthority("Another boot authority");
let tpm: SoftTpm;
let digests: readonly string[];
let deps: FakeDeps;
let server: ServerType;
let machine: Machine;

const profile = (name: string, pem: string) => ({ name, bank: "sha256", authorities: [{ pem, for: ["hookos"] }] });
const declare = (change: Partial<Device> = {}) =>
  deps.world.netbox.declare({
    ...aDevice(),
    serial: machine.serial,
    approvedEks: digests.map((digest) => ({ digest, source: "SCAN:1" })),
    ...change,
  });
const record = async () => {
  const stored = await deps.world.records.get(7);
  return stored === null ? null : parseRecord(stored);
};
const claims = async () => (await deps.world.store.list("claim:", 5000)).map((e) => JSON.parse(e.value));

beforeAll(async () => {
  tpm = new SoftTpm(join(directory, "tpm"));
  digests = await tpm.ekDigests();
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(async () => {
  const profiles = { talos: profile("talos", boots.pem), other: profile("other", others.pem) };
  const policy = { classes: CLASSES, classInputs: null, ekPins: null, profiles, talosSecrets: null };
  const settings = { ...SETTINGS, durations: { ...SETTINGS.durations, inventoryCopyMs: 1 } };
  deps = fakeDeps(await fakeWorld({ directory, issuer, policy, settings }));
  Object.assign(deps.limits, { beginPerMinute: 40 });
  await loadFleet(deps.world);
  server = createAdaptorServer({ fetch: attestApp(deps).fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  machine = new Machine(tpm, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await machine.boot({ authority: boots.der, dbCertificates: [boots.der], secureBoot: true });
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

describe("a system that does not answer", () => {
  const unavailable = async (answer: Awaited<ReturnType<Machine["begin"]>>, code: string) => {
    expect([answer.status, answer.body.code, answer.headers.get("retry-after")]).toEqual([503, code, "10"]);
    expect(answer.body.ldevid).toBeUndefined();
  };

  it.each([
    ["netbox", "inventory-unavailable"],
    ["records", "boot-plane-unavailable"],
  ] as const)("%s at begin and at evidence: 503, no certificate", async (port, code) => {
    declare();
    const begun = await machine.begun();
    await new Promise((resolve) => setTimeout(resolve, 5));
    deps.world[port].down = true;
    await unavailable(await machine.begin(), code);
    await unavailable(await machine.evidence(begun), code);
    deps.world[port].down = false;
    // The session was spent by the try; a new one serves.
    expectCode(await machine.evidence(begun), 401, "session-used");
    expect((await machine.evidence(await machine.begun())).status).toBe(200);
  });

  it('the store: 503, never "unused"', async () => {
    declare();
    const begun = await machine.begun();
    const { store } = deps.world;
    const { setOnce } = store;
    Object.assign(store, { setOnce: () => Promise.reject(new PortError("unavailable", "store", "no answer")) });
    await unavailable(await machine.evidence(begun), "store-unavailable");
    Object.assign(store, { setOnce });
    expect((await machine.evidence(begun)).status).toBe(200);
  });

  it("the signer: 503; the verdict stands, and nothing is pending", async () => {
    declare();
    const begun = await machine.begun();
    const { signer } = deps.world;
    const { sign } = signer;
    Object.assign(signer, { sign: () => Promise.reject(new PortError("unavailable", "signer", "queue full")) });
    await unavailable(await machine.evidence(begun), "signer-unavailable");
    expect(await record()).toMatchObject({ verdict: { result: "pass" }, pendingIdentity: null });
    Object.assign(signer, { sign });
  });

  it("the evidence folder: a log line, and the machine goes on", async () => {
    declare();
    const { files } = deps.world;
    Object.assign(files, { writeEvidence: () => Promise.reject(new PortError("unavailable", "files", "full")) });
    expect((await machine.evidence(await machine.begun())).status).toBe(200);
    expect(deps.lines.join()).toContain("evidence not kept");
    expect(deps.world.events).toContainEqual(expect.objectContaining({ kind: "evidence-lost", code: "unavailable" }));
  });
});

describe("what evidence writes", () => {
  it("a pass: verdict, UUID, EKs, MAC, bundle; an identity is written with a code alone", async () => {
    declare();
    await new Promise((resolve) => setTimeout(resolve, 5));
    deps.world.netbox.owner(7, { desiredAction: "provision" });
    const { body } = await machine.evidence(await machine.begun());
    const kept = await record();
    expect(kept).toMatchObject({
      uuid: machine.uuid,
      passedEks: [...digests].sort(),
      verdict: { result: "pass", by: "intake", codes: [] },
      identity: null,
      pendingIdentity: null,
    });
    expect(deps.world.netbox.row(7).interfaces[0]?.primaryMac).toBe(machine.mac);
    expect(deps.world.evidence).toHaveLength(1);
    const bundle = JSON.parse(deps.world.evidence[0]?.json ?? "{}");
    expect(bundle).toMatchObject({ device: "w1", verdict: { result: "pass" }, request: { bank: "sha256" } });
    expect(body.ldevid).toEqual(expect.stringContaining("BEGIN CERTIFICATE"));
  });

  it("a refusal: verdict with every code and a bundle; a proof that fails changes nothing", async () => {
    declare();
    expect((await machine.evidence(await machine.begun(), { activations: [] })).status).toBe(403);
    expect(await record()).toBeNull();
    expect(deps.world.evidence).toEqual([]);
    expect((await machine.evidence(await machine.begun(), { eventLog: "" })).status).toBe(403);
    expect(await record()).toMatchObject({ verdict: { result: "fail", codes: ["event-log-missing"] }, uuid: null });
    expect(deps.world.evidence).toHaveLength(1);
  });

  it("judges by the class that the unfinished run froze, not by what git says now", async () => {
    declare();
    await updateRecord(deps.world, aDevice(), (r) => ({
      ...r,
      run: aRun({ serial: machine.serial, eks: [...digests].sort() }),
    }));
    const changed = Object.entries(CLASSES).map(([name, cls]) => [name, { ...cls, profile: "other" }]);
    deps.world.policyTexts = { ...deps.world.policyTexts, classes: Object.fromEntries(changed) };
    expect((await machine.evidence(await machine.begun())).status).toBe(200);
    await updateRecord(deps.world, aDevice(), (r) => ({ ...r, run: null }));
    expectCode(await machine.evidence(await machine.begun()), 403, "authority-not-accepted");
  });

  it("a UUID that another session recorded between the two steps: uuid-conflict", async () => {
    declare();
    const begun = await machine.begun();
    await updateRecord(deps.world, aDevice(), (r) => ({ ...r, uuid: "4c4c4544-0034-4410-8043-b7c04f335131" }));
    expectCode(await machine.evidence(begun), 409, "uuid-conflict");
  });

  it("no log line holds a session, an activation or a nonce", async () => {
    declare();
    const begun = await machine.begun();
    const activations = await machine.activations(begun);
    await machine.evidence(begun);
    await machine.evidence(await machine.begun(), { eventLog: "" });
    for (const secret of [begun.session, begun.nonce, ...activations]) expect(deps.lines.join()).not.toContain(secret);
  });
});

describe("FLEET_EK_PINS", () => {
  const pinned = (ekPins: unknown) => {
    deps.world.policyTexts = { ...deps.world.policyTexts, ekPins };
  };
  it("a binding inside the pins passes; outside, or of a device without pins: ek-not-pinned", async () => {
    declare();
    pinned({ w1: digests });
    expect((await machine.begin()).status).toBe(200);
    pinned({ w1: digests.slice(1) });
    expectCode(await machine.begin(), 409, "ek-not-pinned");
    pinned({ w2: digests });
    expectCode(await machine.begin(), 409, "ek-not-pinned");
  });

  it("no binding at all is ek-not-approved still", async () => {
    declare({ approvedEks: [] });
    pinned({ w2: digests });
    expectCode(await machine.begin(), 409, "ek-not-approved");
  });
});

describe("claims of machines that wait", () => {
  it("one for each serial and EK set, with what a person needs to see", async () => {
    await machine.begin();
    await machine.begin();
    const [first] = machine.beginBody().eks;
    await machine.begin({ eks: [{ ...first, certificate: "AAAA" }] });
    const kept = await claims();
    expect(kept).toHaveLength(2);
    expect(kept.find((c) => c.eks.length === 1)).toMatchObject({
      serial: machine.serial,
      uuid: machine.uuid,
      eks: [{ digest: digests[0], certificate: "AAAA" }],
      device: null,
      code: "unknown-serial",
      peer: "127.0.0.1",
    });
    expect(await deps.world.records.all()).toEqual([]);
  });

  it("at most five of one peer, at most 16 KiB each", async () => {
    const certificate = Buffer.alloc(8000).toString("base64");
    const eks = machine.beginBody().eks.map((ek) => ({ ...ek, certificate }));
    expectCode(await machine.begin({ eks }), 409, "unknown-serial");
    expect(await claims()).toEqual([]);
    for (let n = 0; n < 8; n++) expectCode(await machine.begin({ serial: `UNKNOWN${n}` }), 409, "unknown-serial");
    expect((await claims()).map((c) => c.serial).sort()).toEqual([0, 1, 2, 3, 4].map((n) => `UNKNOWN${n}`));
  });

  it("at most 1,000 in all", async () => {
    const put = (n: number) =>
      deps.world.store.put(`claim:${n}`, JSON.stringify({ serial: "x", peer: `p${n}` }), 60_000);
    await Promise.all(Array.from({ length: 1000 }, (_, n) => put(n)));
    expectCode(await machine.begin(), 409, "unknown-serial");
    expect(await claims()).toHaveLength(1000);
  });

  it("a known device is told of in its record, once a day", async () => {
    declare({ approvedEks: [] });
    await machine.begin();
    const before = await deps.world.records.get(7);
    await machine.begin();
    expect(await deps.world.records.get(7)).toEqual(before);
    expect(await record()).toMatchObject({ attention: { code: "ek-not-approved" } });
  });
});

describe("begin's limits", () => {
  it("so many a minute of one peer, then 429", async () => {
    declare();
    const statuses: number[] = [];
    for (let n = 0; n < 42; n++) statuses.push((await machine.begin({ tpm: null })).status);
    expect(statuses).toEqual([...Array<number>(40).fill(400), 429, 429]);
  });

  it("so many in flight, then 503", async () => {
    declare();
    const { devices } = deps.world.netbox;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    Object.assign(deps.limits, { beginInFlight: 2 });
    const app = attestApp(deps);
    deps.world.netbox.devices = async (...args) => {
      await gate;
      return devices.apply(deps.world.netbox, args);
    };
    const body = JSON.stringify(machine.beginBody());
    const headers = { "content-length": String(body.length) };
    const ask = () => app.request("/attest/v1/begin", { method: "POST", body, headers });
    const running = [ask(), ask()];
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await ask()).status).toBe(503);
    open();
    expect((await Promise.all(running)).map((r) => r.status)).toEqual([200, 200]);
    expect((await ask()).status).toBe(200);
  });
});
