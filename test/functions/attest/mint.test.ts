import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { mint } from "../../../functions/attest/mint.ts";
import { codeHash } from "../../../shared/attest/seal.ts";
import type { ConfirmClaims } from "../../../shared/attest/session.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import type { ConfigRecord } from "../../../shared/fleet/record.ts";
import { sessionCertificates } from "../../fakes/session-certificates.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { aRun, CODE, ConfigWorld, TOKEN, UUID } from "../config/world.ts";

const certificate = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
const session = await sessionCertificates(Date.now());
const CLAIMS: ConfirmClaims = {
  step: "confirm",
  deviceId: 7,
  serial: "SN0001",
  uuid: UUID,
  akPublic: "",
  ldevidPublic: "",
  nonce: "",
  bank: "sha256",
  select: [7],
  eks: [],
  ldevid: session.ldevidPem,
  lak: session.lakPem,
  mac: "52:54:00:00:00:07",
  lldp: null,
  confirm: "",
};

let world: ConfigWorld;
beforeAll(async () => {
  world = await ConfigWorld.start(null);
  world.deps.world.policyTexts = {
    ...world.deps.world.policyTexts,
    talosSecrets: {
      cluster: { id: "cluster-id", secret: "cluster-secret" },
      trustdinfo: { token: "abcdef.0123456789abcdef" },
      certs: { os: certificate("os ca"), k8s: certificate("k8s ca") },
    },
  };
});
afterAll(() => world.close());
const again = async () => {
  const stored = await world.deps.world.records.get(7);
  if (stored !== null) await world.deps.world.records.remove(7, stored.resourceVersion);
  await world.mint();
};
beforeEach(again);
const tried = (change: Partial<ConfirmClaims> = {}) => mint(world.deps, aDevice(), aRun(), { ...CLAIMS, ...change });
const withConfig = (change: Partial<ConfigRecord>) =>
  updateRecord(world.deps.world, aDevice(), (r) => ({ ...r, config: r.config && { ...r.config, ...change } }));

it("a new code voids the earlier one, whose token is owed a deletion", async () => {
  const minted = await tried();
  if (!minted.ok) throw new Error(minted.detail);
  const { config, due, token } = await world.record();
  expect(config).toMatchObject({ state: "unread", codeHash: codeHash(minted.code), breaks: 0 });
  expect(due).toEqual([{ do: "delete-token", id: TOKEN.id }]);
  expect(token?.id).not.toBe(TOKEN.id);
  expect((await world.read()).status).toBe(404);
  const got = await world.read(`uuid=${UUID}&code=${minted.code}`);
  expect(got.status).toBe(200);
  expect(got.body).toContain("hostname: w1");
});

it("the identity goes with the code: the certificates that the payload carries, and no others' since", async () => {
  world.deps.world.netbox.owner(7, { status: "planned" });
  await tried();
  const { ldevid, lak, subject } = session.identity;
  expect((await world.record()).pendingIdentity).toMatchObject({ ldevid, lak, subject });
  const later = await sessionCertificates(Date.now(), 365 * 86_400_000, 9);
  const minted = await tried({ ldevid: later.ldevidPem, lak: later.lakPem });
  if (!minted.ok) throw new Error(minted.detail);
  expect((await world.read(`uuid=${UUID}&code=${minted.code}`)).status).toBe(200);
  expect(await world.record()).toMatchObject({ identity: { ldevid: later.identity.ldevid }, pendingIdentity: null });
});

it("certificates of an hour, or none, are no node's: attest again, nothing changed", async () => {
  const visit = await sessionCertificates(Date.now(), 3_600_000);
  const before = await world.deps.world.records.get(7);
  for (const change of [
    { ldevid: visit.ldevidPem, lak: visit.lakPem },
    { ldevid: null, lak: null },
  ])
    expect(await tried(change)).toMatchObject({ ok: false, code: "run-preparing" });
  expect(await world.deps.world.records.get(7)).toEqual(before);
});

it.each(["this run", "an earlier run"])(
  "while the configuration of %s is served: no code, nothing changed",
  async (of) => {
    await withConfig({ state: "serving", nonce: "n", peer: "p", ...(of === "this run" ? {} : { run: "earlier" }) });
    const before = await world.deps.world.records.get(7);
    expect(await tried()).toMatchObject({ ok: false, code: "config-being-served" });
    expect(await world.deps.world.records.get(7)).toEqual(before);
  },
);

it.each(["served", "lost"] as const)("of a run whose configuration is %s there is no second code", async (state) => {
  await withConfig({ state });
  expect(await tried()).toMatchObject({ ok: false, code: "run-preparing" });
  expect((await world.record()).config?.codeHash).toBe(codeHash(CODE));
});

const gatewayRead = async () => {
  world.deps.world.netbox.owner(7, { status: "planned" });
  const minted = await tried();
  if (!minted.ok) return minted;
  return (await world.read(`uuid=${UUID}&code=${minted.code}`)).body.match(/gateway: (\S+)/)?.[1];
};

it("the gateway of the address's nearest prefix goes before the class's", async () => {
  const { netbox } = world.deps.world;
  expect(await gatewayRead()).toBe("10.0.0.1");
  await again();
  netbox.gateways = [
    { prefix: "10.0.0.0/8", gateway: "10.9.9.9" },
    { prefix: "10.0.0.0/24", gateway: "10.0.0.254" },
    { prefix: "10.0.1.0/25", gateway: "10.0.1.1" },
  ];
  expect(await gatewayRead()).toBe("10.0.0.254");
  netbox.gateways = [];
});

it.each([
  ["outside of its prefix", [{ prefix: "10.0.0.0/24", gateway: "10.0.1.1" }], "lies outside of it"],
  ["no address", [{ prefix: "10.0.0.0/24", gateway: "router" }], "is no address"],
  ["out of the node's reach", [{ prefix: "10.0.0.0/16", gateway: "10.0.255.1" }], "outside of the network of"],
  [
    "one of two",
    [
      { prefix: "10.0.0.0/24", gateway: "10.0.0.1" },
      { prefix: "10.0.0.0/24", gateway: "10.0.0.2" },
    ],
    "more than once",
  ],
])("a gateway in NetBox that is %s: no code, and the words say why", async (_name, gateways, words) => {
  const { netbox } = world.deps.world;
  netbox.gateways = gateways;
  expect(await gatewayRead()).toMatchObject({
    ok: false,
    code: "pin-incomplete",
    detail: expect.stringContaining(words),
  });
  netbox.gateways = [];
  expect((await world.record()).config?.codeHash).toBe(codeHash(CODE));
});

it("the store away: no code is given, and the next try gives one", async () => {
  const { store } = world.deps.world;
  const put = store.putConfig.bind(store);
  Object.assign(store, { putConfig: () => Promise.reject(new Error("away")) });
  await expect(tried()).rejects.toThrow("away");
  Object.assign(store, { putConfig: put });
  expect((await tried()).ok).toBe(true);
});

it("what was owed for an earlier configuration does not drop the new one", async () => {
  const { world: peers } = world.deps;
  await updateRecord(peers, aDevice(), (r) => ({ ...r, due: [{ do: "drop-config" }] }));
  expect((await tried()).ok).toBe(true);
  expect((await world.record()).due).not.toContainEqual({ do: "drop-config" });
});

it("two sessions of one machine at once: every code that was given last opens its configuration", async () => {
  const { store } = world.deps.world;
  const put = store.putConfig.bind(store);
  world.deps.world.netbox.owner(7, { status: "planned" });
  // The first is held up right before it stores what its record says.
  let first = true;
  Object.assign(store, {
    putConfig: async (...args: Parameters<typeof put>) => {
      if (first) {
        first = false;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return put(...args);
    },
  });
  const minted = await Promise.all([tried(), tried()]);
  Object.assign(store, { putConfig: put });
  const codes = minted.flatMap((m) => (m.ok ? [m.code] : []));
  const answers = await Promise.all(codes.map((code) => world.read(`uuid=${UUID}&code=${code}`)));
  expect(answers.filter((a) => a.status === 200)).toHaveLength(1);
});
