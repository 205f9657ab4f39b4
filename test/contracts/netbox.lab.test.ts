import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wantedPermissions } from "../../infra/fleetctl/netbox/wanted-rights.ts";
import { fleetdRights } from "../../infra/lab/netbox/access.ts";
import { type LabNetBox, startLabNetBox } from "../../infra/lab/netbox/lab-netbox.ts";
import type { Right } from "../../infra/lab/netbox/permissions.ts";
import { createNetBox } from "../../shared/adapters/netbox/netbox.ts";
import { isSameMoment } from "../../shared/fleet/moment.ts";
import { netboxContract } from "./netbox.ts";
import { netboxMovedContract } from "./netbox-moved.ts";
import { ownerOf } from "./netbox-owner.ts";
import { netboxPagesContract } from "./netbox-pages.ts";
import { netboxPermissionsContract } from "./netbox-permissions.ts";
import { netboxPrefixesContract } from "./netbox-prefixes.ts";
import { netboxRequestsContract } from "./netbox-requests.ts";
import { type NetBoxPart, netboxTroubleContract } from "./netbox-trouble.ts";
import { netboxWebhooksContract } from "./netbox-webhooks.ts";
import { netboxWritersContract } from "./netbox-writers.ts";

const adminToken = "nbt_adminadmin12.0123456789abcdef0123456789abcdef01234567";
const fleetdToken = "nbt_fleetdfleet1.0123456789abcdef0123456789abcdef01234567";
const tokens = [
  { token: adminToken, user: "admin", write: true },
  { token: fleetdToken, user: "fleetd", write: true, scope: "fleetd" as const },
  { token: "0123456789abcdef0123456789abcdef01234567", user: "reader", write: false },
];
const running: LabNetBox[] = [];
const start = async (options: Partial<Parameters<typeof startLabNetBox>[0]> = {}) => {
  const lab = await startLabNetBox({ tokens, ...options });
  running.push(lab);
  return lab;
};
const connect = (url: string, token = fleetdToken, timeoutMs = 5000) =>
  createNetBox({ url, token, role: "fleet-node", timeoutMs });
afterAll(async () => {
  await Promise.all(running.map((lab) => lab.close()));
});

/** The lab's fault for each part that a NetBox may lose. */
const troubles: Readonly<Record<NetBoxPart, unknown>> = {
  queue: { mode: "down" },
  database: { mode: "database-down" },
  "frozen-queue": { mode: "slow", delayMs: 2500 },
};

for (const version of ["4.7.3", "4.6.2"]) {
  describe(`the lab's NetBox ${version}`, () => {
    const fixture = async () => {
      const { url } = await start({ version });
      const order = (body: unknown) =>
        ownerOf(url, adminToken)
          .must("POST", "/lab/faults", body)
          .then(() => undefined);
      const take = (part: NetBoxPart) => order(troubles[part]);
      const give = () => order({ mode: "ok" });
      const names = {
        take,
        give,
        fleetdToken,
        fleetdUser: "fleetd",
        adminToken,
        adminUser: "admin",
        role: "fleet-node",
      };
      return { url, port: connect(url), ...names };
    };
    netboxContract(fixture);
    netboxMovedContract(fixture);
    netboxPrefixesContract(fixture);
    netboxRequestsContract(fixture);
    netboxWritersContract(fixture);
    netboxWebhooksContract(fixture);
    netboxPermissionsContract(fixture);
    netboxPagesContract(fixture);
    netboxTroubleContract(fixture);
  });
}

it("fleetd's account of the lab may what `fleetctl netbox setup` gives, and no more", () => {
  const rights = wantedPermissions("fleetd", "fleet-node").map(({ types, actions, constraints }) => ({
    types,
    actions,
    constraints,
  }));
  // The names of custom fields, which `fleetctl doctor` compares, are not written down twice.
  const others = (all: readonly Right[]) => all.filter(({ types }) => !types.includes("extras.customfield"));
  expect(others(fleetdRights("fleet-node"))).toEqual(others(rights));
});

describe("a NetBox in trouble", () => {
  let url: string;
  let id: number;
  const fault = (order: unknown) => owner().must("POST", "/lab/faults", order);
  const owner = () => ownerOf(url, adminToken);

  beforeAll(async () => {
    ({ url } = await start());
    id = (await owner().addMachine({ name: "m1", role: "fleet-node", number: 21, switchPort: "port1" })).id;
  });

  it("older than ETags is rejected", async () => {
    const old = await start({ version: "4.5.9" });
    await expect(connect(old.url).checkVersion()).rejects.toMatchObject({ kind: "rejected" });
  });

  it.each(["down", "database-down"])(
    "%s is unavailable, reads and writes, and well again after a while",
    async (mode) => {
      const port = connect(url);
      const seen = await port.device(id);
      await fault({ mode });
      await expect(port.devices()).rejects.toMatchObject({ kind: "unavailable" });
      await expect(port.addJournal(id, "info", "x")).rejects.toMatchObject({ kind: "unavailable" });
      await fault({ mode: "ok" });
      const calls = Array.from({ length: 8 }, () => port.checkVersion());
      const failed = (await Promise.allSettled(calls)).filter((call) => call.status === "rejected");
      // Threads that were not asked meanwhile have a connection of before.
      expect(failed).toHaveLength(mode === "down" ? 0 : 3);
      expect(await port.device(id)).toEqual(seen);
    },
  );

  it("slow is unavailable after the time limit, though the work may be done later", async () => {
    await fault({ mode: "slow", delayMs: 400, method: "POST", path: "/api/" });
    await expect(connect(url, fleetdToken, 100).addJournal(id, "info", "late-mark")).rejects.toMatchObject({
      kind: "unavailable",
    });
    await fault({ mode: "ok" });
    await expect.poll(() => connect(url).journalHas(id, "late-mark")).toBe(true);
  });

  it("a lost answer to a write is unavailable and is not sent again", async () => {
    await fault({ mode: "lost-answer", method: "POST" });
    await expect(connect(url).addJournal(id, "info", "lost-mark")).rejects.toMatchObject({ kind: "unavailable" });
    await fault({ mode: "ok" });
    const found = await owner().must("GET", `/api/extras/journal-entries/?assigned_object_id=${id}&q=lost-mark`);
    expect(found.count).toBe(1);
  });

  it("a lost answer to a read is asked once more", async () => {
    await fault({ mode: "lost-answer", method: "GET", times: 1 });
    expect(await connect(url).device(id)).not.toBeNull();
    await fault({ mode: "lost-answer", method: "GET", times: 2 });
    await expect(connect(url).device(id)).rejects.toMatchObject({ kind: "unavailable" });
    await fault({ mode: "ok" });
  });

  it("a time is shown with six digits, and is no change for that", async () => {
    const port = connect(url);
    const attestedAt = "2026-11-29T12:00:00.275Z";
    const seen = await port.device(id);
    const written = await port.patchDevice(id, { attestedAt }, seen?.lastUpdated ?? "");
    expect(written.shown.attestedAt).toBe("2026-11-29T12:00:00.275000Z");
    expect(isSameMoment(written.shown.attestedAt, attestedAt)).toBe(true);
    expect((await port.patchDevice(id, { attestedAt }, written.lastUpdated)).lastUpdated).toBe(written.lastUpdated);
  });

  it("a write that is answered but not kept is unavailable", async () => {
    const port = connect(url);
    const seen = await port.device(id);
    await fault({ mode: "lost-write" });
    const written = port.patchDevice(id, { sbatLevel: "x" }, seen?.lastUpdated ?? "");
    await expect(written).rejects.toMatchObject({ kind: "unavailable" });
    await fault({ mode: "ok" });
  });

  it("another client's old row undoes our write, and the change log says who", async () => {
    const port = connect(url);
    const seen = await port.device(id);
    await port.patchDevice(id, { attestationVerdict: "pass" }, seen?.lastUpdated ?? "");
    await owner().must("POST", `/lab/save-old-row/${id}`, { body: { serial: "NEW" }, user: "importer" });
    expect(await port.device(id)).toMatchObject({ serial: "NEW", shown: { attestationVerdict: null } });
    expect((await port.changes(id))[0]).toMatchObject({ user: "importer", action: "update" });
  });

  it("two PATCHes without If-Match lose one of them, as the real one does", async () => {
    await fault({ mode: "ok", windowMs: 50 });
    const patch = (body: unknown) => owner().must("PATCH", `/api/dcim/devices/${id}/`, body);
    await Promise.all([patch({ serial: "A1" }), patch({ asset_tag: "B2" })]);
    const row = await owner().must("GET", `/api/dcim/devices/${id}/`);
    expect([row.serial, row.asset_tag]).not.toEqual(["A1", "B2"]);
    await fault({ mode: "ok" });
  });

  it("a read-only token reads and may not write", async () => {
    const reader = connect(url, "0123456789abcdef0123456789abcdef01234567");
    const seen = await reader.device(id);
    const write = reader.patchDevice(id, { status: "offline" }, seen?.lastUpdated ?? "");
    await expect(write).rejects.toMatchObject({ kind: "rejected", message: expect.stringContaining("permission") });
  });

  it("reads a fleet of more than one page", async () => {
    const ids = await owner().must("GET", "/api/dcim/device-types/?slug=mini-800");
    const role = await owner().must("GET", "/api/dcim/device-roles/?slug=fleet-node");
    const first = (row: typeof ids) => (row.results as { id: number }[])[0]?.id;
    const bodies = Array.from({ length: 1200 }, (_, i) => ({
      name: `n${i}`,
      device_type: first(ids),
      role: first(role),
      site: 1,
    }));
    await owner().must("POST", "/api/dcim/devices/?fields=id,name,device_type,role,site", bodies);
    const devices = await connect(url).devices();
    expect(new Set(devices.map((each) => each.id)).size).toBe(1201);
    expect(await connect(url).devices(devices.map((each) => each.id))).toEqual(devices);
  });
});

describe("webhooks of the lab's NetBox", () => {
  it("are signed over the raw bytes, sent once, also for a write that changes nothing", async () => {
    const got: { body: string; signature: string | undefined }[] = [];
    const receiver = createServer(async (request, response) => {
      let body = "";
      for await (const part of request) body += part;
      got.push({ body, signature: request.headers["x-hook-signature"]?.toString() });
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks/netbox`;
    const lab = await start({ webhook: { url: hook, secret: "lab-hook-secret" } });
    const owner = ownerOf(lab.url, adminToken);
    const { id } = await owner.addMachine({ name: "m1", role: "fleet-node", number: 1 });
    await owner.must("PATCH", `/api/dcim/devices/${id}/`, { custom_fields: { desired_action: "attest" } });
    await owner.must("PATCH", `/api/dcim/devices/${id}/`, { status: "planned" });
    await lab.hooksIdle();
    receiver.close();
    const bodies = got.map((each) => JSON.parse(each.body));
    expect(bodies.map((each) => each.event)).toEqual(["created", "updated", "updated", "updated"]);
    expect(bodies[2]).toMatchObject({
      object_type: "dcim.device",
      data: { id, custom_fields: { desired_action: { value: "attest", label: "Attest" } } },
      request: { user: "admin", method: "PATCH" },
      snapshots: {
        prechange: { custom_fields: {} },
        postchange: { custom_fields: { desired_action: "attest" } },
      },
    });
    for (const each of got) {
      expect(each.signature).toBe(createHmac("sha512", "lab-hook-secret").update(each.body).digest("hex"));
    }
  });
});
