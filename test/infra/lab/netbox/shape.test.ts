import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LabNetBox, startLabNetBox } from "../../../../infra/lab/netbox/lab-netbox.ts";
import { type AddedMachine, type Owner, ownerOf } from "../../../contracts/netbox-owner.ts";
import { captured } from "../../../shared/adapters/netbox/replay.ts";

/** Keys and kinds of values; a null says nothing of its kind, and custom fields are each NetBox's own. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? "list" : [shape(value[0])];
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  const entries = Object.entries(value).map(([key, each]) => [key, key === "custom_fields" ? "fields" : shape(each)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** Where the lab's shape differs from the recorded one; null, an empty list and a filled one agree. */
function differences(lab: unknown, real: unknown, path = ""): string[] {
  if (lab === "null" || real === "null" || lab === "list" || real === "list") return [];
  if (typeof lab === "object" && typeof real === "object" && lab !== null && real !== null) {
    const keys = new Set([...Object.keys(lab), ...Object.keys(real)]);
    return [...keys].flatMap((key) => {
      const [left, right] = [(lab as Record<string, unknown>)[key], (real as Record<string, unknown>)[key]];
      if (left === undefined || right === undefined)
        return [`${path}.${key} only in ${left === undefined ? "real" : "lab"}`];
      return differences(left, right, `${path}.${key}`);
    });
  }
  return lab === real ? [] : [`${path}: lab ${JSON.stringify(lab)}, real ${JSON.stringify(real)}`];
}

const token = "nbt_adminadmin12.secret";
const readOnly = "nbt_readerreader.secret";
const narrow = "nbt_fleetdfleetd.secret";
let lab: LabNetBox;
let owner: Owner;
let machine: AddedMachine;
let device: string;

beforeAll(async () => {
  lab = await startLabNetBox({
    tokens: [
      { token, user: "admin", write: true },
      { token: readOnly, user: "reader", write: false },
      { token: narrow, user: "fleetd", write: true, scope: "fleetd" },
    ],
  });
  owner = ownerOf(lab.url, token);
  machine = await owner.addMachine({ name: "m1", role: "fleet-node", number: 1, switchPort: "port1" });
  device = `/api/dcim/devices/${machine.id}/`;
  const made = await owner.must("POST", "/api/dcim/mac-addresses/", {
    mac_address: "02aa.0000.0001",
    assigned_object_type: "dcim.interface",
    assigned_object_id: machine.host,
  });
  await owner.must("PATCH", `/api/dcim/interfaces/${machine.host}/`, { primary_mac_address: made.id });
});
afterAll(() => lab.close());

const first = (body: unknown) => (body as { results: unknown[] }).results[0];

describe("shapes of the lab's NetBox against the recorded one", () => {
  it.each([
    ["status", "/api/status/", "read: status"],
    ["device", () => device, "read: detail of a device with a request"],
  ])("%s", async (_name, path, name) => {
    const body = await owner.must("GET", typeof path === "string" ? path : path());
    const real = captured(name).response.body;
    const ignored = /installed_apps|tags/;
    expect(differences(shape(body), shape(real)).filter((each) => !ignored.test(each))).toEqual([]);
  });

  it.each([
    ["device row", "/api/dcim/devices/?role=fleet-node", "read: list page of two"],
    ["interface", "/api/dcim/interfaces/?name=eno1", "read: interface detail"],
    ["MAC address", "/api/dcim/mac-addresses/?mac_address=02:aa:00:00:00:01", "read: mac of an interface"],
    ["address", "/api/ipam/ip-addresses/?address=10.20.0.1/16", "read: addresses of a device"],
    ["cable", "/api/dcim/cables/", "read: cables of a device"],
    [
      "change",
      "/api/core/object-changes/?changed_object_type=dcim.device&action=update",
      "write: change log of one request",
    ],
  ])("list of %s", async (_name, path, name) => {
    const body = await owner.must("GET", path);
    const real = captured(name).response.body;
    const row = differences(shape(first(body)), shape(first(real)));
    expect(row.filter((each) => !/_data\.custom_fields|\.tags/.test(each))).toEqual([]);
    expect(Object.keys(body).sort()).toEqual(Object.keys(real as object).sort());
  });

  it("journal entry", async () => {
    const entry = { assigned_object_type: "dcim.device", assigned_object_id: machine.id, kind: "info", comments: "x" };
    const body = await owner.must("POST", "/api/extras/journal-entries/", entry);
    expect(differences(shape(body), shape(captured("journal: kind info").response.body))).toEqual([]);
  });
});

describe("webhooks of the lab's NetBox against the recorded one", () => {
  it("an owner sets desired_action", async () => {
    const bodies: unknown[] = [];
    const receiver = createServer(async (request, response) => {
      let text = "";
      for await (const part of request) text += part;
      bodies.push(JSON.parse(text));
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const other = await startLabNetBox({
      tokens: [{ token, user: "admin", write: true }],
      webhook: { url, secret: "s" },
    });
    const { id } = await ownerOf(other.url, token).addMachine({ name: "m1", role: "fleet-node", number: 1 });
    const change = { custom_fields: { desired_action: "attest" } };
    await ownerOf(other.url, token).must("PATCH", `/api/dcim/devices/${id}/`, change);
    await other.hooksIdle();
    await other.close();
    receiver.close();
    const real = captured("webhook: owner sets desired_action").response.body;
    const found = differences(shape(bodies.at(-1)), shape(real));
    expect(found.filter((each) => !/\.tags/.test(each))).toEqual([]);
  });
});

describe("refusals of the lab's NetBox are the recorded ones", () => {
  const same = async (name: string, ask: Promise<{ status: number; body: unknown }>) => {
    const real = captured(name).response;
    const got = await ask;
    expect(got.status).toBe(real.status);
    if (real.body === undefined) expect(String(got.body)).toContain("<!DOCTYPE html>");
    else expect(got.body).toEqual(real.body);
  };
  const journal = (body: object) =>
    owner.call("POST", "/api/extras/journal-entries/", {
      assigned_object_type: "dcim.device",
      assigned_object_id: machine.id,
      ...body,
    });

  it.each([
    "errors: status not a choice",
    "errors: status written as the object that was read",
    "errors: custom field unknown",
    "errors: custom_fields null",
    "errors: text over 255 characters? (serial is 50)",
  ])("%s", (name) => same(name, owner.call("PATCH", device, captured(name).request.body)));

  it("request not in the choice set", () =>
    same(
      "errors: request not in the choice set",
      owner.call("PATCH", device, { custom_fields: { desired_action: "reboot" } }),
    ));

  it("datetime malformed, under the lab's own field name", async () => {
    const { body } = await owner.call("PATCH", device, { custom_fields: { attested_at: "yesterday" } });
    const real = JSON.stringify(captured("errors: custom field datetime malformed").response.body);
    expect(JSON.stringify(body)).toBe(real.replace("boot_verdict_at", "attested_at"));
  });

  it.each([
    ["read: cursor with offset", "/api/dcim/devices/?start=0&offset=1"],
    ["read: cursor with ordering", "/api/dcim/devices/?start=0&ordering=id"],
    ["read: filter value not a choice", "/api/dcim/devices/?status=bogus"],
    ["read: filter slug not there", "/api/dcim/devices/?role=bogus"],
    ["errors: object not there", "/api/dcim/devices/99999999/"],
    ["errors: path not there", "/api/dcim/nope/"],
  ])("%s", (name, path) => same(name, owner.call("GET", path)));

  it("PATCH without the trailing slash", () =>
    same("errors: PATCH without the trailing slash", owner.call("PATCH", device.slice(0, -1), { status: "active" })));

  it("If-Match stale", async () => {
    const stale = { "if-match": 'W/"2001-01-01T00:00:00.000000+00:00"' };
    await same("write: If-Match stale", owner.call("PATCH", device, { status: "active" }, stale));
  });

  it("a bulk PATCH is all or none", async () => {
    const bodies = [
      { id: machine.id, serial: "CHANGED" },
      { id: 99999999, status: "active" },
    ];
    await same("write: bulk PATCH with one id not there", owner.call("PATCH", "/api/dcim/devices/", bodies));
    expect((await owner.must("GET", device)).serial).toBe("SNm1");
  });

  it("tokens", async () => {
    const as = (header: string) => owner.call("GET", device, undefined, { authorization: header });
    await same("errors: bad v2 token", as("Bearer nbt_aaaaaaaaaaaa.bbbb"));
    await same("errors: authorization with two words after the scheme", as("Bearer Bearer nbt_x.y"));
    const write = ownerOf(lab.url, readOnly).call("PATCH", device, { status: "active" });
    await same("errors: write with a read-only token", write);
    const outside = ownerOf(lab.url, narrow).call("PATCH", "/api/dcim/devices/1/", { status: "offline" });
    await same("errors: write to an object outside the constraint", outside);
  });

  it.each([
    ["journal: bad kind", { kind: "error", comments: "x" }],
    ["journal: no comments", { kind: "info" }],
    ["journal: comments with a NUL", { comments: "a\u0000b" }],
    ["journal: comments blank", { comments: "  " }],
    ["journal: object not there", { assigned_object_id: 99999999, comments: "x" }],
  ])("%s", (name, body) => same(name, journal(body)));

  it("MAC malformed", () =>
    same(
      "mac: malformed",
      owner.call("POST", "/api/dcim/mac-addresses/", { mac_address: "02:aa", assigned_object_type: "dcim.interface" }),
    ));
});

describe("traps of NetBox that the lab has too", () => {
  it("a PATCH with fields= answers 200 and writes nothing", async () => {
    expect(await owner.call("PATCH", `${device}?fields=id`, { status: "failed" })).toEqual({
      status: 200,
      body: { id: machine.id },
    });
    expect((await owner.must("GET", device)).status).toEqual({ value: "planned", label: "Planned" });
  });

  it("an unknown filter gives everything", async () => {
    const all = await owner.must("GET", "/api/dcim/devices/?no_such_filter=1&cf_no_such=1");
    expect(all.count).toBe((await owner.must("GET", "/api/dcim/devices/")).count);
  });

  it("a no-change PATCH moves last_updated and logs nothing", async () => {
    const log = `/api/core/object-changes/?changed_object_type=dcim.device&changed_object_id=${machine.id}`;
    const [before, logged] = [await owner.must("GET", device), await owner.must("GET", log)];
    const after = await owner.must("PATCH", device, { status: "planned" });
    expect(after.last_updated).not.toBe(before.last_updated);
    expect((await owner.must("GET", log)).count).toBe(logged.count);
  });

  it("an interface's mac_address is accepted and dropped", async () => {
    const path = `/api/dcim/interfaces/${machine.management}/`;
    expect((await owner.must("PATCH", path, { mac_address: "02:aa:00:00:00:09" })).mac_address).toBeNull();
  });

  it("a primary MAC cannot move to another interface", async () => {
    const found = await owner.must("GET", "/api/dcim/mac-addresses/?mac_address=02aa00000001");
    const { id } = first(found) as { id: number };
    const move = { assigned_object_type: "dcim.interface", assigned_object_id: machine.management };
    const answer = await owner.call("PATCH", `/api/dcim/mac-addresses/${id}/`, move);
    expect(answer).toEqual({ status: 400, body: captured("mac: move a primary MAC away").response.body });
  });

  it("a deleted device takes its interfaces and cable with it", async () => {
    const gone = await owner.addMachine({ name: "m2", role: "fleet-node", number: 2, switchPort: "port2" });
    await owner.call("DELETE", `/api/dcim/devices/${gone.id}/`);
    expect((await owner.call("GET", `/api/dcim/interfaces/?device_id=${gone.id}`)).status).toBe(400);
    const port = await owner.must("GET", "/api/dcim/interfaces/?device=sw-000&name=port2");
    expect(first(port)).toMatchObject({ cable: null, connected_endpoints: null });
  });
});
