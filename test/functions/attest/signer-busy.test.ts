import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { attestApp } from "../../../functions/attest/app.ts";
import { SoftTpm } from "../../../infra/lab/tpm/soft-tpm.ts";
import { checkedSigner, type SignBytes } from "../../../shared/adapters/ca/checked.ts";
import { readIssuer, unavailable } from "../../../shared/adapters/ca/issuer.ts";
import { type QueueOptions, queued } from "../../../shared/adapters/ca/queue.ts";
import { loadFleet, parseRecord } from "../../../shared/engine/records.ts";
import { requestLog } from "../../../shared/runtime/log.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";
import { Machine } from "./machine.ts";

const directory = mkdtempSync(join(tmpdir(), "fleetd-busy-"));
const authority = fakeAuthority("Device CA");
const boots = fakeAuthority("Boot authority");
let tpm: SoftTpm;
let digests: readonly string[];
let deps: FakeDeps;
let server: ServerType;
let machine: Machine;

beforeAll(async () => {
  tpm = new SoftTpm(join(directory, "tpm"));
  digests = await tpm.ekDigests();
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(async () => {
  const talos = { name: "talos", bank: "sha256", authorities: [{ pem: boots.pem, for: ["hookos"] }] };
  const policy = { classes: CLASSES, classInputs: null, ekPins: null, profiles: { talos }, talosSecrets: null };
  const settings = { ...SETTINGS, durations: { ...SETTINGS.durations, inventoryCopyMs: 1 } };
  deps = fakeDeps(await fakeWorld({ directory, issuer: authority, policy, settings }));
  await loadFleet(deps.world);
  const app = new Hono();
  app.use(requestLog(deps.log, "device"));
  app.route("/", attestApp(deps));
  server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  machine = new Machine(tpm, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await machine.boot({ authority: boots.der, dbCertificates: [boots.der], secureBoot: true });
  deps.world.netbox.declare({
    ...aDevice(),
    serial: machine.serial,
    approvedEks: digests.map((digest) => ({ digest, source: "SCAN:1" })),
  });
  // A change before its owner's wish: only a device with a request earns a lasting identity.
  await new Promise((resolve) => setTimeout(resolve, 5));
  deps.world.netbox.owner(7, { desiredAction: "provision" });
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

/** Puts a back end before the real key, behind a real queue, as wire.ts does. */
function useSigner(change: (sign: SignBytes) => SignBytes, queue: QueueOptions): void {
  const { signer } = deps.world;
  const issuer = readIssuer({ chainFile: "chain" }, { chain: authority.pem });
  const real = signer.sign.bind(signer);
  Object.assign(signer, { sign: queued(checkedSigner(issuer, change(real)), queue).sign });
}

async function record() {
  const stored = await deps.world.records.get(7);
  return stored === null ? null : parseRecord(stored);
}

async function expectNothingHalfDone(answer: Awaited<ReturnType<Machine["evidence"]>>): Promise<void> {
  expect([answer.status, answer.body.code, answer.headers.get("retry-after")]).toEqual([
    503,
    "signer-unavailable",
    "10",
  ]);
  expect(Object.keys(answer.body).filter((key) => ["ldevid", "lak", "session", "confirm"].includes(key))).toEqual([]);
  expect(await record()).toMatchObject({ verdict: { result: "pass" }, pendingIdentity: null, identity: null });
}

async function expectIssued(): Promise<void> {
  const answer = await machine.evidence(await machine.begun());
  expect([answer.status, String(answer.body.ldevid).slice(0, 27)]).toEqual([200, "-----BEGIN CERTIFICATE-----"]);
}

it("a full queue: 503 signer-unavailable at once, nothing half done; the next try is issued", async () => {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  useSigner((sign) => async (bytes) => gate.then(() => sign(bytes)), { concurrency: 1, maxWaiting: 1, waitMs: 60_000 });
  const { signer } = deps.world;
  const others = [signer.sign(Uint8Array.of(1)), signer.sign(Uint8Array.of(2))];
  const startedMs = performance.now();
  await expectNothingHalfDone(await machine.evidence(await machine.begun()));
  expect(performance.now() - startedMs).toBeLessThan(20_000);
  expect(deps.lines.join()).toContain("the queue is full");
  release();
  await Promise.all(others);
  await expectIssued();
});

it("no turn in time: the same", async () => {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  useSigner((sign) => async (bytes) => gate.then(() => sign(bytes)), { concurrency: 1, maxWaiting: 5, waitMs: 50 });
  const other = deps.world.signer.sign(Uint8Array.of(1));
  await expectNothingHalfDone(await machine.evidence(await machine.begun()));
  expect(deps.lines.join()).toContain("no turn within 50 ms");
  release();
  await other;
  await expectIssued();
});

it("the LDevID is signed and the LAK is not: neither is handed out", async () => {
  let calls = 0;
  useSigner(
    (sign) => async (bytes) => {
      calls++;
      if (calls === 2) throw unavailable("the token is gone");
      return sign(bytes);
    },
    { concurrency: 1, maxWaiting: 5, waitMs: 60_000 },
  );
  await expectNothingHalfDone(await machine.evidence(await machine.begun()));
  expect(calls).toBe(2);
  await expectIssued();
});

it("a key that signs other bytes: 503, and the log says why", async () => {
  useSigner((sign) => async () => sign(Uint8Array.of(0)), { concurrency: 1, maxWaiting: 5, waitMs: 60_000 });
  await expectNothingHalfDone(await machine.evidence(await machine.begun()));
  expect(deps.lines.join()).toContain("is not one of the issuer's key over these bytes");
});

it.each([
  ["decommissions: none, as for any decommissioning device", { status: "decommissioning" }, 200, undefined],
  ["takes it out of service: not-expected", { status: "failed" }, 409, "not-expected"],
  ["corrects the serial: identity-changed", { serial: "another" }, 409, "identity-changed"],
  ["renames it: identity-changed", { name: "w9" }, 409, "identity-changed"],
] as const)(
  "while the signer works the owner %s; no certificate is handed out",
  async (_what, change, status, code) => {
    const { signer } = deps.world;
    const sign = signer.sign.bind(signer);
    const happens = async (tbs: Uint8Array) => {
      deps.world.netbox.owner(7, change);
      return sign(tbs);
    };
    Object.assign(signer, { sign: happens });
    const answer = await machine.evidence(await machine.begun());
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect([answer.body.ldevid ?? null, answer.body.lak ?? null]).toEqual([null, null]);
  },
);
