import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AdminWorld, type Ask, type Got, HOOK_SECRET, type Listener } from "./admin-world.ts";

interface Route {
  readonly listener: Listener;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly maxBytes?: number;
}

const KIB = 1024;
const ROUTES: readonly Route[] = [
  { listener: "device", method: "POST", path: "/attest/v1/begin", maxBytes: 64 * KIB },
  { listener: "device", method: "POST", path: "/attest/v1/evidence", maxBytes: 2048 * KIB },
  { listener: "device", method: "POST", path: "/attest/v1/confirm", maxBytes: 64 * KIB },
  { listener: "device", method: "GET", path: "/talos/config" },
  { listener: "device", method: "GET", path: "/seed" },
  { listener: "admin", method: "POST", path: "/webhooks/netbox", maxBytes: 1024 * KIB },
  { listener: "admin", method: "POST", path: "/renew/v1/begin", maxBytes: 64 * KIB },
  { listener: "admin", method: "POST", path: "/renew/v1/evidence", maxBytes: 2048 * KIB },
  { listener: "admin", method: "POST", path: "/devices/w1/adopt", maxBytes: 64 * KIB },
  { listener: "admin", method: "POST", path: "/reconcile", maxBytes: 64 * KIB },
  { listener: "admin", method: "POST", path: "/accept", maxBytes: 64 * KIB },
  { listener: "admin", method: "GET", path: "/plan" },
  { listener: "admin", method: "GET", path: "/plan/w1" },
  { listener: "admin", method: "GET", path: "/devices" },
  { listener: "admin", method: "GET", path: "/devices/w1" },
  { listener: "admin", method: "GET", path: "/claims" },
  { listener: "admin", method: "GET", path: "/spire-nodes.json" },
  { listener: "admin", method: "GET", path: "/openapi.json" },
  { listener: "metric", method: "GET", path: "/" },
  { listener: "metric", method: "GET", path: "/healthz" },
  { listener: "metric", method: "GET", path: "/readyz" },
  { listener: "metric", method: "GET", path: "/metrics" },
];
const bodied = ROUTES.filter((r) => r.maxBytes !== undefined);
const named = (routes: readonly Route[]) => routes.map((r) => [`${r.method} ${r.path}`, r] as const);
const PROBLEM = { accept: "application/problem+json" };

let world: AdminWorld;
beforeAll(async () => {
  world = await AdminWorld.start();
});
afterAll(() => world.close());

/** Asks, and asserts a problem document of this code that left nothing behind. */
async function refused(route: Pick<Route, "listener" | "path">, method: string, ask: Ask, code: string): Promise<Got> {
  const before = await world.everything();
  const got = await world.ask(route.listener, method, route.path, {
    ...ask,
    headers: { ...PROBLEM, ...(ask.headers as object) },
  });
  expect(got.type).toBe("application/problem+json");
  expect(got.json()).toMatchObject({
    type: `https://fleetd.dev/problems/${code}`,
    title: code,
    status: got.status,
    code,
    detail: expect.stringMatching(/./),
  });
  expect(await world.everything()).toBe(before);
  return got;
}

describe.each(named(bodied))("%s", (_name, route) => {
  const sent = (ask: Ask, code: string) => refused(route, "POST", ask, code);
  const signed = (body: string | Uint8Array) => ({
    body,
    headers: { "x-hook-signature": createHmac("sha512", HOOK_SECRET).update(body).digest("hex") },
  });

  it("over its limit: 413", async () => {
    const { status } = await sent({ body: Buffer.alloc((route.maxBytes ?? 0) + 1, "x") }, "too-large");
    expect(status).toBe(413);
  });

  it("without a Content-Length: 411", async () => {
    expect((await sent({ body: '{"device":"w1"}', chunked: true }, "length-required")).status).toBe(411);
  });

  it.each(["{", "", "\u0000", '{"a":1}}', Uint8Array.of(0x7b, 0xff, 0x7d)])(
    "what is no JSON: 400 (%j)",
    async (body) => {
      if (route.path === "/reconcile" && body.length === 0) return expect(body).toBe("");
      expect((await sent(signed(body), "bad-request")).status).toBe(400);
      return undefined;
    },
  );

  it.each(["[]", "null", "1", '"x"'])("JSON of another kind: 400 (%s)", async (body) => {
    expect((await sent(signed(body), "bad-request")).status).toBe(400);
  });
});

describe("a wrong field: 400 with its name", () => {
  const key = { public: "AAAA" };
  const begin = {
    serial: "SN0001",
    uuid: "4c4c4544-0034-4410-8043-b7c04f335131",
    tpm: { family: "2.0", manufacturer: "X", firmware: "1" },
    eks: [key],
    ak: key,
    ldevid: key,
  };
  const statement = { attest: "AAAA", signature: "AAAA" };
  const evidence = {
    session: "x",
    activations: [],
    quote: statement,
    pcrs: { 7: "a".repeat(64) },
    eventLog: "",
    ldevidCertify: statement,
    report: "AAAA",
  };
  /** Three bytes more: base64 counts in threes. */
  const big = (bytes: number) => Buffer.alloc(bytes + 3).toString("base64");
  it.each<[string, string, object]>([
    ["begin", "serial", { ...begin, serial: 7 }],
    ["begin", "serial", { ...begin, serial: "x".repeat(65) }],
    ["begin", "uuid", { ...begin, uuid: null }],
    ["begin", "tpm.family", { ...begin, tpm: { ...begin.tpm, family: "3.0" } }],
    ["begin", "tpm", { ...begin, tpm: [] }],
    ["begin", "eks", { ...begin, eks: Array<object>(9).fill(key) }],
    ["begin", "eks.0.public", { ...begin, eks: [{ public: big(2048) }] }],
    ["begin", "eks.0.certificate", { ...begin, eks: [{ ...key, certificate: big(8192) }] }],
    ["begin", "ak.public", { ...begin, ak: { public: "AAA" } }],
    ["begin", "ak.public", { ...begin, ak: { public: "AA-_" } }],
    ["begin", "ldevid.private", { ...begin, ldevid: { ...key, private: 1 } }],
    ["begin", "ldevid", { ...begin, ldevid: undefined }],
    ["evidence", "session", { ...evidence, session: "x".repeat(129 * 1024) }],
    ["evidence", "activations.0", { ...evidence, activations: [big(128)] }],
    ["evidence", "quote.attest", { ...evidence, quote: { ...statement, attest: big(4096) } }],
    ["evidence", "pcrs.7", { ...evidence, pcrs: { 7: "A".repeat(64) } }],
    ["evidence", "pcrs.24", { ...evidence, pcrs: { 24: "a".repeat(64) } }],
    ["evidence", "eventLog", { ...evidence, eventLog: big(1024 * 1024) }],
    ["evidence", "report", { ...evidence, report: big(64 * 1024) }],
    ["confirm", "signature", { session: "x", signature: big(2048) }],
    ["confirm", "session", { signature: "AAAA" }],
  ])("%s %s", async (step, field, body) => {
    const path = `/attest/v1/${step}`;
    const got = await refused({ listener: "device", path }, "POST", { body: JSON.stringify(body) }, "bad-request");
    expect(got.json().field).toBe(field);
  });

  const renewal = {
    ...{ session: "x", quote: statement, pcrs: { 7: "a".repeat(64) }, eventLog: "", report: "AAAA" },
    ...{ ldevid: key, ldevidCertify: statement, signature: "AAAA" },
  };
  it.each<[string, string, object]>([
    ["/renew/v1/begin", "ldevid", { ldevid: 1, lak: "AAAA" }],
    ["/renew/v1/begin", "ldevid", { ldevid: "AAAA", lak: "AAAA" }],
    ["/renew/v1/begin", "ldevid", { ldevid: "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----", lak: "AAAA" }],
    ["/renew/v1/begin", "lak", { ldevid: "x".repeat(24 * 1024), lak: "x".repeat(24 * 1024 + 1) }],
    ["/renew/v1/evidence", "session", { ...renewal, session: "x".repeat(129 * 1024) }],
    ["/renew/v1/evidence", "quote", { ...renewal, quote: "AAAA" }],
    ["/renew/v1/evidence", "pcrs.24", { ...renewal, pcrs: { 24: "a".repeat(64) } }],
    ["/renew/v1/evidence", "eventLog", { ...renewal, eventLog: big(1024 * 1024) }],
    ["/renew/v1/evidence", "report", { ...renewal, report: big(64 * 1024) }],
    ["/renew/v1/evidence", "ldevid.public", { ...renewal, ldevid: { public: big(2048) } }],
    ["/renew/v1/evidence", "ldevid.public", renewal],
    ["/renew/v1/evidence", "ldevidCertify.signature", { ...renewal, ldevidCertify: { attest: "AAAA" } }],
    ["/renew/v1/evidence", "signature", { ...renewal, signature: big(2048) }],
    ["/devices/w1/adopt", "certificates", { certificates: 1 }],
    ["/devices/w1/adopt", "certificates", { certificates: "no PEM" }],
    ["/devices/w1/adopt", "certificates", { certificates: "x".repeat(48 * 1024 + 1) }],
    ["/devices/w1/adopt", "", { certificates: "x", more: 1 }],
    ["/accept", "", {}],
    ["/accept", "", { device: "w1", fleet: "vanished" }],
    ["/accept", "", { device: "w1", more: 1 }],
    ["/accept", "device", { device: 7 }],
    ["/accept", "device", { device: "" }],
    ["/accept", "what", { device: "w1", what: "erase" }],
    ["/accept", "what", { fleet: "vanished", what: "wipe" }],
    ["/accept", "fleet", { fleet: "all" }],
  ])("%s %s", async (path, field, body) => {
    const got = await refused({ listener: "admin", path }, "POST", { body: JSON.stringify(body) }, "bad-request");
    expect(got.json().field).toBe(field);
  });

  it("reconcile: an unknown field, a device that is no text", async () => {
    const route = { listener: "admin", path: "/reconcile" } as const;
    await refused(route, "POST", { body: '{"devices":"w1"}' }, "bad-request");
    const got = await refused(route, "POST", { body: '{"device":1}' }, "bad-request");
    expect(got.json().field).toBe("device");
  });
});

describe("methods and routes", () => {
  it.each(named(ROUTES))("%s with another method: 405", async (_name, route) => {
    const others = ["GET", "POST", "PUT", "DELETE", "PATCH"].filter((m) => m !== route.method);
    for (const method of others) expect((await refused(route, method, {}, "method-not-allowed")).status).toBe(405);
  });

  it.each<[Listener, string]>([
    ["device", "/"],
    ["device", "/devices"],
    ["device", "/metrics"],
    ["device", "/reconcile"],
    ["device", "/attest/v1/renew"],
    ["device", "/renew/v1/begin"],
    ["device", "/renew/v1/evidence"],
    ["device", "/devices/w1/adopt"],
    ["device", "/accept"],
    ["device", "/plan"],
    ["device", "/attest/v1/begin/"],
    ["device", "/talos/config/x"],
    ["device", "/webhooks/netbox"],
    ["admin", "/attest/v1/begin"],
    ["admin", "/talos/config"],
    ["admin", "/metrics"],
    ["admin", "/devices/w1/x"],
    ["metric", "/devices"],
    ["metric", "/talos/config"],
  ])("%s %s: 404", async (listener, path) => {
    for (const method of ["GET", "POST"])
      expect((await refused({ listener, path }, method, {}, "not-found")).status).toBe(404);
  });
});

describe("outside systems", () => {
  const uuid = "4c4c4544-0034-4410-8043-b7c04f335131";
  it.each<[Listener, string, "netbox" | "records", string]>([
    ["admin", "/devices", "netbox", "inventory-unavailable"],
    ["admin", "/devices/w1", "records", "boot-plane-unavailable"],
    ["admin", "/spire-nodes.json", "records", "boot-plane-unavailable"],
    ["admin", "/plan", "netbox", "inventory-unavailable"],
    ["admin", "/plan/w1", "records", "boot-plane-unavailable"],
    ["metric", "/", "netbox", "inventory-unavailable"],
    ["metric", "/readyz", "netbox", "inventory-unavailable"],
    ["metric", "/readyz", "records", "boot-plane-unavailable"],
    ["device", `/talos/config?uuid=${uuid}`, "records", "boot-plane-unavailable"],
  ])("%s %s without %s: 503 with Retry-After", async (listener, path, port, code) => {
    const peer = world.deps.world[port];
    peer.down = true;
    const got = await world.ask(listener, "GET", path, { headers: PROBLEM }).finally(() => {
      peer.down = false;
    });
    expect([got.status, got.json().code, got.header("retry-after")]).toEqual([503, code, "10"]);
  });

  it("metrics are given though the fleet cannot be read", async () => {
    world.deps.world.netbox.down = true;
    const got = await world.ask("metric", "GET", "/metrics").finally(() => {
      world.deps.world.netbox.down = false;
    });
    expect(got.status).toBe(200);
  });

  it.each<[Listener, string, string]>([
    ["device", "GET", "/talos/config"],
    ["admin", "GET", "/devices"],
    ["admin", "POST", "/reconcile"],
    ["metric", "GET", "/"],
  ])("%s %s %s: a bug answers 500 without its words", async (listener, method, path) => {
    const { records } = world.deps.world;
    const { all, byUuid } = records;
    const bug = () => Promise.reject(new TypeError("secret words of a bug"));
    Object.assign(records, { all: bug, byUuid: bug });
    const got = await world.ask(listener, method, path, { headers: PROBLEM, body: "" });
    Object.assign(records, { all, byUuid });
    expect([got.status, got.json().code]).toEqual([500, "internal"]);
    expect(got.text).not.toContain("secret words");
    expect(world.deps.lines.join("\n")).toContain("secret words of a bug");
  });
});
