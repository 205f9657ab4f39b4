import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { attestApp } from "../../../functions/attest/app.ts";
import { SoftTpm } from "../../../infra/lab/tpm/soft-tpm.ts";
import { codeHash } from "../../../shared/attest/seal.ts";
import { loadFleet, parseRecord } from "../../../shared/engine/records.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";
import { expectCode } from "./box.ts";
import { base64, Machine } from "./machine.ts";

const directory = mkdtempSync(join(tmpdir(), "fleetd-handlers-"));
const issuer = fakeAuthority("Device CA");
const boots = fakeAuthority("Boot authority");
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
const certificate = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
const talosSecrets = {
  cluster: { id: "cluster-id", secret: "cluster-secret" },
  trustdinfo: { token: "abcdef.0123456789abcdef" },
  certs: { os: certificate("os ca"), k8s: certificate("k8s ca") },
};

beforeAll(async () => {
  tpm = new SoftTpm(join(directory, "tpm"));
  digests = await tpm.ekDigests();
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(async () => {
  const profiles = { talos: profile("talos", boots.pem), other: profile("other", boots.pem) };
  const policy = { classes: CLASSES, classInputs: null, ekPins: null, profiles, talosSecrets };
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

const OTHER_EK = { digest: `sha256:${"e".repeat(64)}`, source: "SCAN:2" };
const judged = async () => {
  const answer = await machine.evidence(await machine.begun());
  expect(answer.status).toBe(200);
  return answer;
};
/** Nothing was started, nothing minted. */
const untouched = async () => {
  expect(await record()).toMatchObject({ run: null, config: null });
  expect((await deps.world.bootPlane.objects()).workflows).toEqual([]);
};

it("a first install: a run is started, and the code opens for this TPM and AK alone", async () => {
  declare();
  const answer = await machine.confirm(await judged());
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(answer.body.outcome).toBe("install");
  const code = await machine.code(answer);
  expect(code).toMatch(/^[A-Z2-7]{26}$/);
  const kept = await record();
  expect(kept).toMatchObject({ run: { kind: "provision", bootMode: false }, config: { state: "unread" } });
  expect(kept?.config?.codeHash).toBe(codeHash(code));
  expect(JSON.stringify(kept) + deps.lines.join()).not.toContain(code);
});

it("a repeat gives another code, and the earlier one is void", async () => {
  declare();
  const first = await machine.code(await machine.confirm(await judged()));
  const second = await machine.code(await machine.confirm(await judged()));
  expect(second).not.toBe(first);
  expect((await record())?.config?.codeHash).toBe(codeHash(second));
});

it("confirm-invalid: another message, another key; the token is spent", async () => {
  declare();
  const answer = await judged();
  const forged = base64(tpm.sign(machine.ldevid, Buffer.from("another message")));
  expectCode(await machine.confirm(answer, { signature: forged }), 403, "confirm-invalid");
  expectCode(await machine.confirm(answer), 401, "session-used");
  const again = await judged();
  const stranger = new Machine(tpm, machine.url);
  const signature = base64(tpm.sign(stranger.ldevid, Buffer.from(String(again.body.confirm), "base64")));
  expectCode(await machine.confirm(again, { signature }), 403, "confirm-invalid");
  await untouched();
});

it.each<[string, (bindings: Device["approvedEks"]) => Partial<Device>]>([
  ["another EK in their place", () => ({ approvedEks: [OTHER_EK] })],
  ["one EK more", (bindings) => ({ approvedEks: [...(bindings as object[]), OTHER_EK] })],
  ["no EK", () => ({ approvedEks: [] })],
  ["another serial", () => ({ serial: "OTHER" })],
])("identity-changed: NetBox has %s since evidence; no run, no code", async (_what, change) => {
  declare();
  const answer = await judged();
  deps.world.netbox.owner(7, change(deps.world.netbox.row(7).approvedEks));
  expectCode(await machine.confirm(answer), 409, "identity-changed");
  await untouched();
});

it("one EK fewer than its certificates name: identity-changed", async () => {
  declare();
  const answer = await judged();
  deps.world.netbox.owner(7, { approvedEks: (deps.world.netbox.row(7).approvedEks as object[]).slice(1) });
  expectCode(await machine.confirm(answer), 409, "identity-changed");
  await untouched();
});

it("switch-port-mismatch where the port is required; said in the record, nothing started", async () => {
  declare();
  Object.assign(deps.world.settings, { switchPort: "require" });
  expectCode(await machine.confirm(await judged()), 409, "switch-port-mismatch");
  expect((await record())?.attention?.code).toBe("switch-port-mismatch");
  await untouched();
});

it("no-request, protected, boot plane away: a wait with its reason", async () => {
  declare({ status: "active" });
  expect((await machine.confirm(await judged())).body).toEqual({ outcome: "attested" });
  deps.world.netbox.owner(7, { status: "planned", protected: true });
  expectCode(await machine.confirm(await judged()), 409, "protected");
  deps.world.netbox.owner(7, { protected: false });
  deps.world.bootPlane.down = true;
  const away = await machine.confirm(await judged());
  expect([away.status, away.body.code]).toEqual([503, "boot-plane-unavailable"]);
  deps.world.bootPlane.down = false;
  expect((await machine.confirm(await judged())).body.outcome).toBe("install");
});

it("protected, set while the run waits and not to be withdrawn just now: no code", async () => {
  declare();
  expect((await machine.confirm(await judged())).body.outcome).toBe("install");
  const before = (await record())?.config?.codeHash;
  deps.world.netbox.owner(7, { protected: true });
  deps.world.bootPlane.remove = () => Promise.reject(new PortError("unavailable", "boot-plane", "no answer"));
  expectCode(await machine.confirm(await judged()), 409, "run-preparing");
  expect((await record())?.config?.codeHash).toBe(before);
});

it("NetBox's change log away between evidence and confirm: 503, and never a 200 without an outcome", async () => {
  declare();
  const answer = await judged();
  deps.world.netbox.changes = async () => {
    throw new PortError("unavailable", "netbox", "no answer");
  };
  const away = await machine.confirm(answer);
  expect([away.status, away.body.code]).toEqual([503, "inventory-unavailable"]);
  await untouched();
});
