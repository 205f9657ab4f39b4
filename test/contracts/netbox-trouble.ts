import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createNetBox } from "../../shared/adapters/netbox/netbox.ts";
import type { NetBoxFixture } from "./netbox.ts";
import { type AddedMachine, type Owner, ownerOf } from "./netbox-owner.ts";

/** What a NetBox stands on. `frozen-queue`: Redis answers nothing, and all that waits for it goes on when it does again. */
export type NetBoxPart = "queue" | "database" | "frozen-queue";

export interface TroubledFixture extends NetBoxFixture {
  take(part: NetBoxPart): Promise<void>;
  give(part: NetBoxPart): Promise<void>;
}

const LONG_MS = 60_000;
const SHORT_MS = 1500;
const CALLS_AT_ONCE = 24;

/** A NetBox whose database or queue is gone: everything is unavailable, nothing is half done, and nothing is told twice. */
export function netboxTroubleContract(make: () => Promise<TroubledFixture>): void {
  describe("a part of NetBox that is gone", () => {
    let at: TroubledFixture;
    let owner: Owner;
    let machine: AddedMachine;
    let taken: NetBoxPart | null = null;
    const prefix = `t${Date.now().toString(36)}`;
    const unavailable = { name: "PortError", kind: "unavailable", port: "netbox" };
    const take = async (part: NetBoxPart) => {
      await at.take(part);
      taken = part;
    };
    const give = async () => {
      if (taken !== null) await at.give(taken);
      taken = null;
    };
    /**
     * Well for good. Each thread of its server keeps a connection of its own to the database and finds out about the
     * restart by its next call, which fails: so many calls at once that each has had one.
     */
    const well = () =>
      expect
        .poll(
          async () => {
            const calls = Array.from({ length: CALLS_AT_ONCE }, () => at.port.checkVersion());
            return (await Promise.allSettled(calls)).filter((call) => call.status === "rejected").length;
          },
          { timeout: LONG_MS },
        )
        .toBe(0);
    const entries = async (mark: string) =>
      (await owner.must("GET", `/api/extras/journal-entries/?assigned_object_id=${machine.id}&q=${mark}`)).count;

    beforeAll(async () => {
      at = await make();
      owner = ownerOf(at.url, at.adminToken);
      machine = await owner.addMachine({ name: prefix, role: at.role, number: 75 });
    });
    afterEach(async () => {
      await give();
      await well();
    });
    afterAll(() => owner.removeMachines());

    describe.each([
      ["queue", "text/html"],
      ["database", "application/json"],
    ] as const)("its %s", (part, type) => {
      it("reads and writes are unavailable, nothing of them is done later, and it gets well by itself", async () => {
        const seen = await at.port.device(machine.id);
        const mark = `${prefix}-${part}`;
        await take(part);
        const headers = { authorization: `Bearer ${at.adminToken}` };
        const raw = await fetch(`${at.url}/api/dcim/devices/${machine.id}/`, { headers });
        expect([raw.status, raw.headers.get("content-type")?.split(";")[0]]).toEqual([500, type]);
        await raw.text();
        await expect(at.port.devices()).rejects.toMatchObject(unavailable);
        await expect(at.port.device(machine.id)).rejects.toMatchObject(unavailable);
        await expect(at.port.changes(machine.id)).rejects.toMatchObject(unavailable);
        await expect(at.port.journalHas(machine.id, mark)).rejects.toMatchObject(unavailable);
        await expect(at.port.addJournal(machine.id, "info", mark)).rejects.toMatchObject(unavailable);
        const patch = at.port.patchDevice(machine.id, { sbatLevel: mark }, seen?.lastUpdated ?? "");
        await expect(patch).rejects.toMatchObject(unavailable);
        const mac = at.port.recordMac(machine.id, machine.host, "02:aa:00:00:75:01");
        await expect(mac).rejects.toMatchObject(unavailable);
        await give();
        await well();
        expect(await at.port.device(machine.id)).toEqual(seen);
        expect(await entries(mark)).toBe(0);
      });

      it("one who looks for the mark before each try tells it once, however often it had to try", async () => {
        const mark = `${prefix}-once-${part}`;
        const tell = async () => {
          if (!(await at.port.journalHas(machine.id, mark))) await at.port.addJournal(machine.id, "warning", mark);
          return true;
        };
        await take(part);
        for (let tries = 0; tries < 3; tries++) await expect(tell()).rejects.toMatchObject(unavailable);
        await give();
        // One that fails while the server gets well is tried again, as the next pass does.
        await expect.poll(() => tell().catch(() => false), { timeout: LONG_MS }).toBe(true);
        await well();
        for (let tries = 0; tries < 3; tries++) await tell();
        expect(await entries(mark)).toBe(1);
      });
    });

    it("a call that waits is given up, but its work may be done later: looked for, it is not told twice", async () => {
      const mark = `${prefix}-late`;
      const { url, fleetdToken: token, role } = at;
      const hasty = createNetBox({ url, token, role, timeoutMs: SHORT_MS });
      await take("frozen-queue");
      await expect(hasty.addJournal(machine.id, "warning", mark)).rejects.toMatchObject(unavailable);
      await give();
      await well();
      await expect.poll(() => at.port.journalHas(machine.id, mark), { timeout: LONG_MS }).toBe(true);
      expect(await entries(mark)).toBe(1);
    });
  });
}
