import { afterEach, describe, expect, it } from "vitest";
import { authorization } from "../../../../shared/adapters/netbox/client.ts";
import { createNetBox } from "../../../../shared/adapters/netbox/netbox.ts";
import { etag } from "../../../../shared/adapters/netbox/patch.ts";
import { selection } from "../../../../shared/adapters/netbox/schema.ts";
import { type Captured, captured, replay } from "./replay.ts";

/** The recorded NetBox had other names for some fields: they are settings. */
const fieldNames = {
  fleetClass: "node_class",
  approvedEks: "approved_ek_sha256",
  attestationVerdict: "boot_verdict",
  attestedAt: "boot_verdict_at",
  fleetRun: "workflow",
};
const servers: { close(): void }[] = [];
const against = async (...answers: Captured["response"][]) => {
  const server = await replay(answers);
  servers.push(server);
  const foreign: number[] = [];
  const port = createNetBox({
    url: server.url,
    token: "nbt_aaaaaaaaaaaa.bbbb",
    role: "kubernetes-node",
    timeoutMs: 2000,
    fieldNames,
    onForeignRow: (id) => foreign.push(id),
  });
  return { port, asked: server.asked, foreign };
};
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const answer = (name: string) => captured(name).response;
const rowOf = (name: string) => answer(name).body as Record<string, unknown>;
const page = (...results: unknown[]) => ({
  status: 200,
  headers: {},
  body: { count: null, next: null, previous: null, results },
});
const node6 = rowOf("write: status and custom fields");
const eno1 = (rowOf("read: interface detail").results as Record<string, unknown>[])[0];
/** Not recorded whole: the far port, in the shape of the recorded interface. */
const port1 = {
  ...eno1,
  id: 1,
  name: "port1",
  label: "1",
  device: { id: 1, name: "sw-000" },
  connected_endpoints: null,
};

describe("recorded answers of NetBox 4.7.3", () => {
  it("a device with its interface and far end", async () => {
    const { port, asked } = await against({ status: 200, headers: {}, body: node6 }, page(eno1), page(port1));
    expect(await port.device(6)).toEqual({
      id: 6,
      name: "node-0000",
      serial: "SN000000",
      status: "active",
      lastUpdated: "2026-11-29T19:13:21.214434Z",
      fleetClass: "worker-g1",
      desiredAction: null,
      installDisk: "/dev/nvme0n1",
      installDiskSerial: "DISK000000",
      bmcType: "amt",
      oobAddress: "10.30.0.10",
      approvedEks: [`${"ab".repeat(31)}00`],
      protected: false,
      clusterTokenApproved: false,
      address: "10.20.0.10/16",
      interfaces: [
        {
          id: 241,
          name: "eno1",
          managementOnly: false,
          primaryMac: "02:00:00:00:00:00",
          macs: ["02:00:00:00:00:00"],
          peer: {
            deviceName: "sw-000",
            interfaceName: "port1",
            interfaceLabel: "1",
            interfaceMac: "02:00:00:00:00:00",
            deviceMacs: ["02:00:00:00:00:00"],
          },
        },
      ],
      shown: {
        attestationVerdict: "pass",
        attestedAt: "2026-01-02T03:04:05Z",
        dbxHash: "a".repeat(64),
        sbatLevel: "b".repeat(64),
        fleetRun: { name: "wf-1", phase: "RUNNING" },
        fleetIdentity: null,
      },
    });
    expect(asked.every((each) => each.path.endsWith("/") && each.query.has("fields"))).toBe(true);
    expect(asked.map((each) => each.headers.authorization)).toEqual(Array(3).fill("Bearer nbt_aaaaaaaaaaaa.bbbb"));
  });

  it("a device without a bmc, disk serial or address", async () => {
    const { port } = await against(answer("read: detail without a bmc, disk serial or address"), page());
    expect(await port.device(40)).toMatchObject({ bmcType: null, oobAddress: null, name: "node-0034" });
  });

  it("an emptied selection is none", async () => {
    const { port } = await against(answer("write: custom field set to an empty string"), page());
    expect((await port.device(6))?.desiredAction).toBeNull();
  });

  it("a list that NetBox did not filter: rows of another role are dropped and told", async () => {
    const stranger = { ...node6, id: 99, role: { slug: "switch" } };
    const { port, foreign } = await against(page(node6, stranger), page());
    expect((await port.devices()).map((each) => each.id)).toEqual([6]);
    expect(foreign).toEqual([99]);
  });

  it("pages are asked for by id, never by the link that NetBox gives", async () => {
    const first = { ...page(node6), body: { ...page(node6).body, next: "https://netbox.example/api/?start=7" } };
    const { port, asked } = await against(first, answer("read: cursor page after the last"), page());
    expect(await port.devices()).toHaveLength(1);
    expect(asked[1]?.query.get("start")).toBe("7");
  });

  it("a server that gives the same page again is not believed", async () => {
    const same = { ...page(node6), body: { ...page(node6).body, next: "x" } };
    const { port } = await against(same, same);
    await expect(port.devices()).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("a PATCH: bare, only what differs, under the ETag of the read, without fields=", async () => {
    const before = rowOf("read: detail of a device with a request");
    const after = {
      ...before,
      status: { value: "planned", label: "Planned" },
      last_updated: "2026-11-29T19:20:00.000000Z",
    };
    const read = { status: 200, headers: {}, body: before };
    const { port, asked } = await against(read, { ...read, body: after }, page());
    await port.patchDevice(9, { status: "planned", dbxHash: null }, "2026-11-29T18:58:03.237121Z");
    expect(asked[1]).toMatchObject({ method: "PATCH", path: "/api/dcim/devices/9/", body: { status: "planned" } });
    expect(asked[1]?.query.toString()).toBe("");
    expect(asked[1]?.headers["if-match"]).toBe(answer("read: detail of a device with a request").headers.etag);
  });

  it("a stale tag is a conflict", async () => {
    const before = { ...rowOf("read: detail of a device with a request") };
    const { port } = await against({ status: 200, headers: {}, body: before }, answer("write: If-Match stale"));
    const late = port.patchDevice(9, { status: "planned" }, "2026-11-29T18:58:03.237121Z");
    await expect(late).rejects.toMatchObject({ kind: "conflict" });
  });

  it("a date and time that NetBox wrote with six digits is the same one", async () => {
    const read = { status: 200, headers: {}, body: rowOf("write: datetime with an offset") };
    const { port, asked } = await against(read, page());
    await port.patchDevice(6, { attestedAt: "2026-01-02T01:04:05.678Z" }, String(read.body.last_updated));
    expect(asked.map((each) => each.method)).toEqual(["GET", "GET"]);
  });

  it("the change log", async () => {
    const { port } = await against(answer("write: change log of one request"));
    expect(await port.changes(7)).toEqual([
      {
        requestId: "a3ee4c70-ccbb-4c3e-a3b5-6ddb7241f656",
        atMs: Date.UTC(2026, 10, 29, 19, 13, 34, 282),
        user: "fleetd",
        action: "update",
        before: { status: "active", desiredAction: null, approvedEks: [`${"ab".repeat(31)}01`] },
        after: { status: "active", desiredAction: null, approvedEks: [`${"ab".repeat(31)}01`] },
      },
    ]);
  });

  it("a change log of another device is not taken for ours", async () => {
    const { port } = await against(answer("write: change log of one request"));
    expect(await port.changes(8)).toEqual([]);
  });

  it("a journal entry and its mark", async () => {
    const list = answer("journal: list of one device, newest first");
    const ended = { ...list, body: { ...(list.body as object), next: null } };
    const { port, asked } = await against(answer("journal: kind info"), ended, ended);
    await port.addJournal(9, "info", "fleetd: a info line");
    expect(asked[0]?.body).toEqual(captured("journal: kind info").request.body);
    expect(await port.journalHas(9, "one")).toBe(true);
    expect(await port.journalHas(8, "one")).toBe(false);
  });
});

describe("refusals", () => {
  it.each([
    ["errors: no token", "rejected", "Authentication credentials were not provided."],
    ["errors: bad v2 token", "rejected", "Invalid v2 token"],
    ["errors: write with a read-only token", "rejected", "You do not have permission"],
    ["errors: status not a choice", "rejected", "retired is not a valid choice."],
    ["errors: request not in the choice set", "rejected", "Invalid choice (reboot)"],
    ["errors: object not there", "not-found", "No Device matches"],
    ["errors: path not there", "unavailable", "not JSON"],
    ["errors: PATCH without the trailing slash", "unavailable", "not JSON"],
    ["errors: GET without the trailing slash", "rejected", "a redirect"],
    ["faults: Redis down: GET", "unavailable", "HTTP 500"],
    ["faults: PostgreSQL down: GET", "unavailable", "HTTP 500"],
  ])("%s is %s", async (name, kind, words) => {
    const { port } = await against(answer(name));
    const asked = port.addJournal(6, "info", "x");
    await expect(asked).rejects.toMatchObject({ kind, port: "netbox", message: expect.stringContaining(words) });
  });

  it("a device row of another shape is no answer, and its values are not in the error", async () => {
    const odd = { status: 200, headers: {}, body: { ...node6, serial: 12345 } };
    const { port } = await against(odd);
    const message = expect.stringMatching(/^(?!.*12345).*serial/);
    await expect(port.device(6)).rejects.toMatchObject({ kind: "unavailable", message });
  });

  it("an HTML 404 for a device is not taken for a device that is gone", async () => {
    const { port } = await against(answer("errors: path not there"));
    await expect(port.device(6)).rejects.toMatchObject({ kind: "unavailable" });
  });
});

it.each([
  ["nbt_a.b", "Bearer nbt_a.b"],
  ["Bearer nbt_a.b", "Bearer nbt_a.b"],
  ["Token nbt_a.b\n", "Bearer nbt_a.b"],
  ["0123abcd", "Token 0123abcd"],
  [" bearer 0123abcd", "Token 0123abcd"],
])("token %j goes as %j", (token, header) => {
  expect(authorization(token)).toBe(header);
});

it.each([null, undefined, "", { value: "" }, { value: null }])("selection %j is null", (read) => {
  expect(selection.parse(read)).toBeNull();
});

it.each(["active", { value: "active", label: "Active" }])("selection %j is its value", (read) => {
  expect(selection.parse(read)).toBe("active");
});

it("the ETag is the one that NetBox sent with the row", () => {
  const detail = captured("read: detail of a device with a request").response;
  expect(etag(String((detail.body as { last_updated: string }).last_updated))).toBe(detail.headers.etag);
});
