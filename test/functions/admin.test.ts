import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as lookup from "../../functions/lookup/schema.ts";
import { reconcileResponse } from "../../functions/reconcile/schema.ts";
import { loadFleet, storeRecord, updateRecord } from "../../shared/engine/records.ts";
import { aDevice } from "../scenarios/fixtures.ts";
import { ADMIN_TOKEN, AdminWorld, type Ask, HOOK_SECRET } from "./admin-world.ts";
import { aRecord, CODE, TOKEN } from "./config/world.ts";
import { expectDescribed } from "./problem-shape.ts";

let world: AdminWorld;
beforeEach(async () => {
  world = await AdminWorld.start();
});
afterEach(() => world.close());

describe("who may call the admin listener", () => {
  it.each([null, "", "wrong", `${ADMIN_TOKEN}x`, ADMIN_TOKEN.slice(1), "x".repeat(513)])("no: %s", async (token) => {
    for (const [method, path] of [
      ["GET", "/devices"],
      ["GET", "/devices/w1"],
      ["GET", "/claims"],
      ["GET", "/openapi.json"],
      ["GET", "/spire-nodes.json"],
      ["POST", "/reconcile"],
      ["POST", "/devices/w1/adopt"],
      ["POST", "/accept"],
      ["GET", "/plan"],
      ["GET", "/plan/w1"],
      ["GET", "/unknown"],
    ] as const) {
      const got = await world.ask("admin", method, path, { token });
      expect([got.status, got.json().code]).toEqual([401, "unauthorized"]);
    }
    expect(await world.deps.world.records.all()).toEqual([]);
  });

  it("another scheme with the right token: no", async () => {
    const headers = { authorization: `Basic ${ADMIN_TOKEN}` };
    expect((await world.ask("admin", "GET", "/devices", { token: null, headers })).status).toBe(401);
  });

  it("the right token: yes", async () => {
    expect((await world.ask("admin", "GET", "/devices")).status).toBe(200);
  });
});

describe("webhook", () => {
  const hook = (change: object = {}) => ({
    event: "updated",
    timestamp: new Date().toISOString().replace("Z", "+00:00"),
    object_type: "dcim.device",
    data: { id: 7, status: { value: "decommissioning" }, custom_fields: { desired_action: "wipe" } },
    ...change,
  });
  const send = (body: string, ask: Ask = {}) =>
    world.ask("admin", "POST", "/webhooks/netbox", {
      token: null,
      body,
      headers: { "x-hook-signature": createHmac("sha512", HOOK_SECRET).update(body).digest("hex") },
      ...ask,
    });
  const passes = async () => (await world.deps.world.records.get(7)) !== null;

  it("a signed hint starts that device's pass; no field of it has an effect", async () => {
    expect((await send(JSON.stringify(hook()))).status).toBe(202);
    await expect.poll(passes).toBe(true);
    expect(world.deps.world.netbox.row(7)).toMatchObject({ status: "planned", desiredAction: null });
    const { workflows } = await world.deps.world.bootPlane.objects();
    expect(workflows).toEqual([]);
  });

  it("an interface's hint names its device; other objects and unknown devices are taken and do nothing", async () => {
    for (const change of [
      { object_type: "dcim.cable", data: { id: 7 } },
      { data: { id: 999 } },
      { object_type: "dcim.interface", data: { id: 7, device: null } },
    ])
      expect((await send(JSON.stringify(hook(change)))).status).toBe(202);
    expect(await passes()).toBe(false);
    const change = { object_type: "dcim.interface", data: { id: 1, device: { id: 7, name: "w1" } } };
    expect((await send(JSON.stringify(hook(change)))).status).toBe(202);
    await expect.poll(passes).toBe(true);
  });

  it("a replay within its time does no harm", async () => {
    const body = JSON.stringify(hook());
    await Promise.all(Array.from({ length: 10 }, () => send(body)));
    await expect.poll(passes).toBe(true);
    const before = world.deps.world.netbox.row(7).lastUpdated;
    for (let n = 0; n < 5; n++) expect((await send(body)).status).toBe(202);
    expect(world.deps.world.netbox.row(7).lastUpdated).toBe(before);
  });

  it("that meets another's pass at its device waits for its end, and further ones with it", async () => {
    const { store } = world.deps.world;
    expect(await store.lock("device:7", "another's pass", 30_000)).toBe(true);
    for (let n = 0; n < 5; n++) expect((await send(JSON.stringify(hook()))).status).toBe(202);
    expect(await passes()).toBe(false);
    await store.unlock("device:7", "another's pass");
    await expect.poll(passes, { timeout: 5_000 }).toBe(true);
  });

  it.each([6, -6])("of %d minutes ago: 401", async (minutes) => {
    const timestamp = new Date(Date.now() - minutes * 60_000).toISOString();
    expect((await send(JSON.stringify(hook({ timestamp })))).status).toBe(401);
    expect((await send(JSON.stringify(hook({ timestamp: "yesterday" })))).status).toBe(401);
    expect(await passes()).toBe(false);
  });

  it("NetBox's own form of time stamp is read", async () => {
    const timestamp = new Date().toISOString().replace("T", " ").replace("Z", "000+00:00");
    expect((await send(JSON.stringify(hook({ timestamp })))).status).toBe(202);
  });

  it("a signature of another body, secret or form: 401, and the admin token does not help", async () => {
    const body = JSON.stringify(hook());
    const by = (secret: string, text: string) => createHmac("sha512", secret).update(text).digest("hex");
    for (const signature of [
      by(HOOK_SECRET, `${body} `),
      by("another secret", body),
      by(HOOK_SECRET, body).toUpperCase(),
      by(HOOK_SECRET, body).slice(2),
      `sha512=${by(HOOK_SECRET, body)}`,
      "",
    ])
      expect((await send(body, { headers: { "x-hook-signature": signature } })).status).toBe(401);
    expect((await send(body, { token: ADMIN_TOKEN, headers: {} })).status).toBe(401);
    expect(await passes()).toBe(false);
  });
});

describe("reconcile", () => {
  const reconcile = (body?: object) =>
    world.ask("admin", "POST", "/reconcile", { body: body === undefined ? "" : JSON.stringify(body) });

  it("a whole pass, and its report when it has ended", async () => {
    const got = await reconcile();
    expect(got.json()).toMatchObject({ devices: 1, failed: 0, skipped: false });
    expect((await world.deps.world.bootPlane.objects()).hardware.map((h) => h.deviceId)).toEqual([7]);
    expect(got.json().steps).toBeGreaterThan(0);
    // Two more to let NetBox's own row settle; then nothing is left to do.
    await reconcile({});
    await reconcile({});
    expect((await reconcile({})).json().steps).toBe(0);
  });

  it("one device's; an unknown one is 404; a locked one waits", async () => {
    expect((await reconcile({ device: "w1" })).json()).toMatchObject({ devices: 1, failed: 0 });
    expect((await reconcile({ device: "w2" })).status).toBe(404);
    await world.deps.world.store.lock("device:7", "somebody", 60_000);
    expect((await reconcile({ device: "w1" })).json().code).toBe("run-preparing");
    await world.deps.world.store.lock("pass", "somebody", 60_000);
    expect((await reconcile()).json()).toMatchObject({ skipped: true });
  });
});

describe("look-ups, metrics and page", () => {
  const kept = async () => {
    await loadFleet(world.deps.world);
    await storeRecord(world.deps.world.records, aRecord(Date.now()), null);
  };

  it("show the device's state and hold no secret, no code and no hash of one", async () => {
    await kept();
    const { config } = aRecord(0);
    for (const [listener, path] of [
      ["admin", "/devices"],
      ["admin", "/devices/w1"],
      ["admin", "/claims"],
      ["admin", "/spire-nodes.json"],
      ["admin", "/openapi.json"],
      ["metric", "/"],
      ["metric", "/metrics"],
    ] as const) {
      const { status, text } = await world.ask(listener, "GET", path);
      expect(status).toBe(200);
      for (const secret of [CODE, TOKEN.secret, config?.codeHash ?? "", ADMIN_TOKEN, HOOK_SECRET])
        expect(text).not.toContain(secret);
    }
    const { devices } = (await world.ask("admin", "GET", "/devices")).json() as { devices: object[] };
    expect(devices).toMatchObject([{ id: 7, name: "w1", status: "planned", config: { state: "unread", breaks: 0 } }]);
    expect((await world.ask("admin", "GET", "/devices/w1")).json()).toMatchObject({ name: "w1", timeline: [] });
    expect((await world.ask("admin", "GET", "/devices/w2")).status).toBe(404);
  });

  it("show when a node's identity ends, the earlier of its two certificates", async () => {
    await kept();
    const of = (notAfterMs: number) => ({ serialNumber: "01", spkiSha256: "a", notAfterMs });
    const issuedAtMs = Date.UTC(2026, 10, 29);
    const identity = {
      ldevid: of(Date.UTC(2027, 10, 29)),
      lak: of(Date.UTC(2027, 9, 1)),
      subject: "CN=w1.0",
      issuedAtMs,
    };
    await updateRecord(world.deps.world, aDevice(), (r) => ({ ...r, identity }));
    expect((await world.ask("admin", "GET", "/devices/w1")).json().identity).toEqual({
      ...identity,
      issued: "2026-11-29T00:00:00.000Z",
      expires: "2027-10-01T00:00:00.000Z",
    });
  });

  it("the OpenAPI document has every route of the protocol, with the shape that its handler reads by", async () => {
    type Body = { content: { "application/json": { schema: { properties: object } } } };
    type Route = { post?: { requestBody: Body }; get?: { responses: Record<string, Body> } };
    const { paths } = (await world.ask("admin", "GET", "/openapi.json")).json() as { paths: Record<string, Route> };
    const fields = Object.fromEntries(
      Object.entries(paths).map(([path, { post, get }]) => [
        path,
        Object.keys(
          (post?.requestBody ?? get?.responses["200"])?.content["application/json"].schema.properties ?? {},
        ).sort(),
      ]),
    );
    expect(fields).toMatchObject({
      "/attest/v1/confirm": ["session", "signature"],
      "/renew/v1/begin": ["lak", "ldevid"],
      "/renew/v1/evidence": [
        ...["eventLog", "ldevid", "ldevidCertify", "pcrs", "quote", "report", "session", "signature"],
      ],
      "/devices/{name}/adopt": ["certificates"],
      "/accept": ["device", "fleet", "what"],
      "/devices": ["devices", "fleet", "vanished"],
      "/claims": ["claims"],
      "/spire-nodes.json": ["nodes"],
      "/reconcile": ["device"],
      "/plan": ["devices"],
      "/plan/{name}": ["again", "conditions", "id", "name", "status", "steps"],
    });
    expect(Object.keys(paths)).toHaveLength(14);
  });

  it("what the document says of look-ups and passes is all that they answer", async () => {
    await kept();
    const answer = async (method: string, path: string, body?: string) =>
      (await world.ask("admin", method, path, body === undefined ? {} : { body })).json();
    for (const [method, path, schema, body] of [
      ["POST", "/reconcile", reconcileResponse, "{}"],
      ["GET", "/devices", lookup.devicesResponse, undefined],
      ["GET", "/devices/w1", lookup.deviceResponse, undefined],
      ["GET", "/claims", lookup.claimsResponse, undefined],
      ["GET", "/spire-nodes.json", lookup.spireNodesResponse, undefined],
    ] as const) {
      const got = await answer(method, path, body);
      // What a schema does not name it drops.
      expect(schema.parse(got)).toEqual(got);
    }
  });

  it("problem answers may carry what handlers add, and the document says what that is", () => {
    const problem = { type: "https://fleetd.dev/problems/x", title: "x", status: 403, detail: "d" };
    expectDescribed("/renew/v1/evidence", 400, { ...problem, code: "bad-request", field: "pcrs" });
    const verdict = { result: "fail", checks: [{ name: "replay", ok: false, code: "event-log-mismatch" }] };
    expectDescribed("/renew/v1/evidence", 403, { ...problem, code: "event-log-mismatch", verdict });
    const others = [
      { ...problem, code: "no-such-code" },
      { ...problem, code: "quarantined", verdict: "fail" },
      problem,
    ];
    for (const other of others)
      expect(() => expectDescribed("/renew/v1/evidence", 403, other)).toThrow("to be undefined");
  });

  it("metrics count devices by status and conditions by type", async () => {
    await kept();
    await updateRecord(world.deps.world, aDevice(), (r) => ({
      ...r,
      conditions: [{ type: "ConfigUnread", reason: "unread", message: "m", sinceMs: 1, about: "" }],
    }));
    const { text, type } = await world.ask("metric", "GET", "/metrics");
    expect(type).toContain("text/plain");
    expect(text).toContain('fleetd_devices{status="planned"} 1');
    expect(text).toContain('fleetd_condition{type="ConfigUnread",reason="unread"} 1');
  });

  it("the page escapes what a machine or a person wrote", async () => {
    world.deps.world.netbox.owner(7, { serial: "<script>alert('x')</script>" });
    const { text } = await world.ask("metric", "GET", "/");
    expect(text).not.toContain("<script>");
    expect(text).toContain("&#60;script&#62;");
  });

  it("a claim of an unknown machine is shown, contested where two claim one serial", async () => {
    const claim = (serial: string, peer: string) => JSON.stringify({ serial, uuid: "u", eks: [], device: null, peer });
    await world.deps.world.store.put("claim:a", claim("SN1", "1"), 60_000);
    await world.deps.world.store.put("claim:b", claim("sn1", "2"), 60_000);
    await world.deps.world.store.put("claim:c", claim("SN2", "3"), 60_000);
    const { claims } = (await world.ask("admin", "GET", "/claims")).json() as { claims: { contested: boolean }[] };
    expect(claims.map((c) => c.contested)).toEqual([true, true, false]);
  });
});
