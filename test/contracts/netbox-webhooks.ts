import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isPortError } from "../../shared/ports/error.ts";
import { hookSignatureFits } from "../../shared/runtime/auth.ts";
import type { NetBoxFixture } from "./netbox.ts";
import { type Owner, ownerOf, type Row } from "./netbox-owner.ts";
import { type Receiver, startReceiver } from "./netbox-receiver.ts";

const SECRET = "a secret of the contract";
const LONG_MS = 30_000;

/** A POST that met a connection which NetBox had just closed is not repeated by the port, but by fleetd's next pass. */
async function nextTime(work: () => Promise<unknown>): Promise<unknown> {
  return work().catch((error) => (isPortError(error, "unavailable") ? work() : Promise.reject(error)));
}

/** What fleetd's webhook is sent, how it is signed, how often, in what order, and what becomes of one that fails. */
export function netboxWebhooksContract(make: () => Promise<NetBoxFixture>): void {
  describe("webhooks", () => {
    let at: NetBoxFixture;
    let owner: Owner;
    let receiver: Receiver;
    let hook: Row;
    let rule: Row;
    let id: number;
    let host: number;
    const prefix = `h${Date.now().toString(36)}`;
    const bodies = () => receiver.got.map((each) => JSON.parse(each.body));
    const arrived = (count: number) =>
      expect.poll(() => receiver.got.length, { timeout: LONG_MS, interval: 50 }).toBe(count);
    const patch = (body: unknown, of = id) => owner.must("PATCH", `/api/dcim/devices/${of}/`, body);
    /** A later edit that has arrived: with one worker all before it were tried by then. */
    const allTried = async (count: number) => {
      await patch({ custom_fields: { sbat_level: `after ${count}` } });
      await arrived(count);
    };

    beforeAll(async () => {
      at = await make();
      owner = ownerOf(at.url, at.adminToken);
      receiver = await startReceiver();
      hook = await owner.must("POST", "/api/extras/webhooks/", {
        name: prefix,
        payload_url: receiver.url,
        http_method: "POST",
        http_content_type: "application/json",
        secret: SECRET,
        ssl_verification: true,
        timeout: 1,
      });
      ({ id, host } = await owner.addMachine({ name: prefix, role: at.role, number: 61 }));
      rule = await owner.must("POST", "/api/extras/event-rules/", {
        name: prefix,
        object_types: ["dcim.device"],
        enabled: true,
        event_types: ["object_created", "object_updated", "object_deleted"],
        action_type: "webhook",
        action_object_type: "extras.webhook",
        action_object_id: hook.id,
        conditions: { attr: "role.slug", value: at.role },
      });
    });
    beforeEach(() => {
      receiver.got.length = 0;
      receiver.answer(204);
    });
    afterAll(async () => {
      await owner.call("DELETE", `/api/extras/event-rules/${rule.id}/`);
      await owner.call("DELETE", `/api/extras/webhooks/${hook.id}/`);
      await owner.removeMachines();
      await receiver.close();
    });

    it("are signed over the raw bytes and tell who changed what", async () => {
      await patch({ custom_fields: { desired_action: "attest" } });
      await arrived(1);
      const [got] = receiver.got;
      const signature = createHmac("sha512", SECRET)
        .update(got?.body ?? "")
        .digest("hex");
      expect(got?.headers["x-hook-signature"]).toBe(signature);
      expect(got?.headers["content-type"]).toBe("application/json");
      // fleetd's own check takes these very bytes, and no others.
      const fits = (text: string) => hookSignatureFits(Buffer.from(text), signature, SECRET);
      expect([fits(got?.body ?? ""), fits(`${got?.body} `)]).toEqual([true, false]);
      const [body] = bodies();
      expect(body).toMatchObject({
        event: "updated",
        object_type: "dcim.device",
        data: { id },
        request: { user: at.adminUser, method: "PATCH" },
        snapshots: { postchange: { status: "planned", custom_fields: { desired_action: "attest" } } },
      });
      // Selections as that version reads them: an object from 4.7 on.
      const [row] = (await owner.must("GET", `/api/dcim/devices/?id=${id}`)).results as Row[];
      expect(body.data.custom_fields).toEqual(row?.custom_fields);
      expect(Math.abs(Date.parse(body.timestamp) - Date.now())).toBeLessThan(LONG_MS);
      expect(body.data.last_updated).toBe((await at.port.device(id))?.lastUpdated);
      // What was never set is not in a snapshot at all.
      expect(body.snapshots.prechange.custom_fields).not.toHaveProperty("desired_action");
      expect(body.snapshots.postchange).not.toHaveProperty("last_updated");
    });

    it("come again for a write that changes nothing, and for fleetd's own", async () => {
      await patch({ custom_fields: { desired_action: "attest" } });
      await patch({ custom_fields: { desired_action: "attest" } });
      const seen = await at.port.device(id);
      await at.port.patchDevice(id, { desiredAction: null }, seen?.lastUpdated ?? "");
      await arrived(3);
      expect(
        bodies().map((body) => [body.request.user, body.snapshots.postchange.custom_fields.desired_action]),
      ).toEqual([
        [at.adminUser, "attest"],
        [at.adminUser, "attest"],
        [at.fleetdUser, null],
      ]);
      // fleetd writes only what differs, so it does not wake itself for ever.
      const now = await at.port.device(id);
      await at.port.patchDevice(id, { desiredAction: null }, now?.lastUpdated ?? "");
      await allTried(4);
    });

    it("are one for each device of an edit of many, and none for another role's, a journal entry or a MAC", async () => {
      const other = (await owner.addMachine({ name: `${prefix}-b`, role: at.role, number: 62 })).id;
      await expect.poll(() => bodies().filter((body) => body.event === "updated").length, { timeout: LONG_MS }).toBe(1);
      receiver.got.length = 0;
      const [found] = (await owner.must("GET", "/api/dcim/devices/?name=sw-000")).results as Row[];
      await patch({ comments: prefix }, found?.id);
      await nextTime(() => at.port.addJournal(id, "info", "no event"));
      await nextTime(() => at.port.recordMac(id, host, "02:aa:00:00:61:01"));
      const body = [id, other].map((each) => ({ id: each, status: "offline" }));
      await owner.call("PATCH", "/api/dcim/devices/", body);
      await allTried(3);
      expect(bodies().map((each) => each.data.id)).toEqual([id, other, id]);
      expect(bodies()[0].request.id).toBe(bodies()[1].request.id);
      receiver.got.length = 0;
      await owner.call("DELETE", `/api/dcim/devices/${other}/`);
      await arrived(1);
      expect(bodies()[0]).toMatchObject({ event: "deleted", data: { id: other }, snapshots: { postchange: null } });
    });

    it("keep the order of one device's edits", async () => {
      const values = ["1", "2", "3", "4", "5", "6"];
      for (const value of values) await patch({ custom_fields: { dbx_hash: value } });
      await arrived(values.length);
      expect(bodies().map((body) => body.data.custom_fields.dbx_hash)).toEqual(values);
    });

    it("are tried once: a receiver that fails is not asked again", async () => {
      receiver.answer(500);
      await patch({ custom_fields: { dbx_hash: "failed" } });
      await arrived(1);
      receiver.answer(204);
      await allTried(2);
      expect(bodies().map((body) => body.data.custom_fields.dbx_hash)).toEqual(["failed", "failed"]);
      await allTried(3);
    });

    it("of a receiver that hangs are given up, once, and the next come late but come", async () => {
      receiver.answer(204, 1500);
      await patch({ custom_fields: { dbx_hash: "hangs" } });
      await arrived(1);
      receiver.answer(204);
      await allTried(2);
      expect(bodies().map((body) => body.data.custom_fields.dbx_hash)).toEqual(["hangs", "hangs"]);
    });
  });
}
