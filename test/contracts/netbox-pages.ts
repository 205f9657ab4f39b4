import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createNetBox } from "../../shared/adapters/netbox/netbox.ts";
import type { NetBoxPort } from "../../shared/ports/netbox.ts";
import type { NetBoxFixture } from "./netbox.ts";
import { type AddedMachine, type Owner, ownerOf } from "./netbox-owner.ts";

const PAGE = 3;
const FIRST = 7;

/** A walk over pages while the list changes: what stays throughout is seen once, what goes or comes at most once. */
export function netboxPagesContract(make: () => Promise<NetBoxFixture>): void {
  describe("pages while rows change", () => {
    let at: NetBoxFixture;
    let owner: Owner;
    let ids: number[] = [];
    let number = 80;
    const machines = new Map<number, AddedMachine>();
    const add = async () => {
      number++;
      const made = await owner.addMachine({ name: `g${Date.now().toString(36)}-${number}`, role: at.role, number });
      machines.set(made.id, made);
      return made.id;
    };
    const remove = (id: number) => owner.call("DELETE", `/api/dcim/devices/${id}/`);

    /** The adapter with small pages; `between` runs before the page of that number (from 1) of a path is asked for. */
    const paged = (path: string, between: Readonly<Record<number, () => Promise<unknown>>>): NetBoxPort => {
      let page = 0;
      const small: typeof fetch = async (input, init) => {
        const url = new URL(String(input));
        if (url.searchParams.has("start")) url.searchParams.set("limit", `${PAGE}`);
        if (url.pathname === path) {
          page++;
          await between[page]?.();
        }
        return fetch(url, init);
      };
      return createNetBox({ url: at.url, token: at.fleetdToken, role: at.role, timeoutMs: 30_000, fetch: small });
    };
    const seen = async (port: NetBoxPort) => (await port.devices()).map((device) => device.id);
    const DEVICES = "/api/dcim/devices/";
    const INTERFACES = "/api/dcim/interfaces/";

    beforeAll(async () => {
      at = await make();
      owner = ownerOf(at.url, at.adminToken);
      for (const device of await at.port.devices()) await remove(device.id);
    });
    beforeEach(async () => {
      ids = (await at.port.devices()).map((device) => device.id);
      while (ids.length < FIRST) ids.push(await add());
    });
    afterAll(() => owner.removeMachines());

    it("small pages give what one large one gives", async () => {
      expect(await paged(DEVICES, {}).devices()).toEqual(await at.port.devices());
      expect(await seen(paged(DEVICES, {}))).toEqual(ids);
    });

    it("a device deleted behind the walk shifts nobody over the boundary", async () => {
      const [first = 0] = ids;
      expect(await seen(paged(DEVICES, { 2: () => remove(first) }))).toEqual(ids);
    });

    it("a device deleted before the walk comes to it is not seen, the others once", async () => {
      const last = ids.at(-1) ?? 0;
      expect(await seen(paged(DEVICES, { 2: () => remove(last) }))).toEqual(ids.filter((id) => id !== last));
    });

    it("the very device at the boundary may go", async () => {
      const [, , third = 0, fourth = 0] = ids;
      const port = paged(DEVICES, { 2: async () => Promise.all([remove(third), remove(fourth)]) });
      expect(await seen(port)).toEqual(ids.filter((id) => id !== fourth));
    });

    it("a device added meanwhile is seen once, at the end, also after a full last page", async () => {
      let added = 0;
      while (ids.length % PAGE !== 0) ids.push(await add());
      const boundary = ids.length / PAGE + 1;
      const port = paged(DEVICES, {
        [boundary]: async () => {
          added = await add();
        },
      });
      expect(await seen(port)).toEqual([...ids, added]);
    });

    it("names, serials and status may be edited: the order is that of ids", async () => {
      const port = paged(DEVICES, {
        2: () => owner.must("PATCH", `/api/dcim/devices/${ids.at(-1)}/`, { name: `0-${Date.now()}` }),
        3: () => owner.must("PATCH", `/api/dcim/devices/${ids[0]}/`, { name: `z-${Date.now()}`, status: "offline" }),
      });
      expect(await seen(port)).toEqual(ids);
    });

    it("interfaces may come and go while they are read: each device has its own, once", async () => {
      const [first = 0, second = 0] = ids;
      const host = machines.get(first)?.host ?? 0;
      const port = paged(INTERFACES, {
        2: () => owner.call("DELETE", `/api/dcim/interfaces/${host}/`),
        3: () => owner.must("POST", INTERFACES, { device: first, name: "late", type: "1000base-t" }),
      });
      const walked = await port.devices();
      const names = (id: number) => walked.find((device) => device.id === id)?.interfaces.map((each) => each.name);
      expect(walked.map((device) => device.id)).toEqual(ids);
      expect(names(second)).toEqual(["eno1", "amt"]);
      expect(names(first)?.filter((name) => name === "amt")).toEqual(["amt"]);
      expect(names(first)?.filter((name) => name === "late").length).toBeLessThanOrEqual(1);
      for (const device of walked)
        expect(new Set(device.interfaces.map((each) => each.id)).size).toBe(device.interfaces.length);
    });

    it("a named device that goes between its row and its interfaces makes the read unavailable, and the next is well", async () => {
      const [first = 0, ...rest] = ids;
      const port = paged(INTERFACES, { 1: () => remove(first) });
      await expect(port.devices(ids)).rejects.toMatchObject({ name: "PortError", kind: "unavailable" });
      expect((await port.devices(ids)).map((device) => device.id)).toEqual(rest);
    });
  });
}
