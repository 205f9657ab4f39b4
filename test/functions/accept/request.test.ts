import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseRecord } from "../../../shared/engine/records.ts";
import type { DeviceRecord } from "../../../shared/fleet/record.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { AdminWorld, type Got } from "../admin-world.ts";

let world: AdminWorld;
beforeEach(async () => {
  world = await AdminWorld.start();
});
afterEach(() => world.close());

const accept = (body: object): Promise<Got> => world.ask("admin", "POST", "/accept", { body: JSON.stringify(body) });
const pass = () => world.ask("admin", "POST", "/reconcile", { body: '{"device":"w1"}' });
async function record(): Promise<DeviceRecord> {
  const stored = await world.deps.world.records.get(7);
  if (stored === null) throw new Error("no record");
  return parseRecord(stored);
}
const said = async () => (await record()).conditions.map((c) => `${c.type}/${c.reason}`);
const journal = (words: string) => world.deps.world.netbox.journal.filter((l) => l.text.includes(words));
/** fleetd's memory begins after the owner asked: the request is held. */
async function held(action: string): Promise<void> {
  world.deps.world.netbox.owner(7, { desiredAction: action });
  await pass();
  await pass();
  expect(await said()).toContain("RequestHeld/request-held");
}
/** As if NetBox had pruned its change log. */
function withoutLog(): void {
  Object.assign(world.deps.world.netbox, { changes: async () => [] });
}

describe("a held request", () => {
  it("is carried out once it is accepted, under its own id; the journal says by whom", async () => {
    await held("wipe");
    const [entry] = await world.deps.world.netbox.changes(7);
    const got = await accept({ device: "w1" });
    expect([got.status, got.json()]).toEqual([
      200,
      { device: "w1", what: "wipe", request: entry?.requestId, by: "token", at: expect.any(String), new: true },
    ]);
    await pass();
    const { run, lastRequests } = await record();
    expect(run).toMatchObject({ kind: "wipe", phase: "waiting", request: { id: entry?.requestId } });
    expect(lastRequests.install?.id).toBe(entry?.requestId);
    expect(journal("wipe accepted by token")).toHaveLength(1);
  });

  it("is used up: the field is cleared, no word is left, and an old row brought back asks for nothing", async () => {
    await held("wipe");
    await accept({ device: "w1", what: "wipe" });
    for (let n = 0; n < 3; n++) await pass();
    expect(world.deps.world.netbox.row(7).desiredAction).toBeNull();
    expect((await record()).acceptedRequest).toBeNull();
    const name = (await record()).run?.name;
    const { netbox, bootPlane } = world.deps.world;
    const old = { ...netbox.row(7), desiredAction: "wipe" };
    netbox.owner(7, { desiredAction: null });
    await netbox.patchDevice(7, {}, netbox.row(7).lastUpdated);
    Object.assign(netbox, { device: async () => ({ ...old, lastUpdated: netbox.row(7).lastUpdated }) });
    for (let n = 0; n < 3; n++) await pass();
    expect((await record()).run?.name).toBe(name);
    expect((await bootPlane.objects()).workflows).toHaveLength(1);
  });

  it("of another kind than was meant is not accepted, nor one that is fresh, nor none at all", async () => {
    await held("wipe");
    const before = (await world.deps.world.records.get(7))?.text;
    for (const what of ["provision", "attest", "retire"]) {
      const got = await accept({ device: "w1", what });
      expect([got.status, got.json().code]).toEqual([409, "nothing-to-accept"]);
      expect(got.json().detail).toBe(`w1 has no held ${what} to accept`);
      // Waiting helps nothing.
      expect(got.header("retry-after")).toBeUndefined();
    }
    expect((await world.deps.world.records.get(7))?.text).toBe(before);
    await accept({ device: "w1" });
    for (let n = 0; n < 3; n++) await pass();
    world.deps.world.netbox.owner(7, { desiredAction: "attest" });
    expect((await accept({ device: "w1", what: "attest" })).json().code).toBe("nothing-to-accept");
    const nobody = await accept({ device: "w9" });
    expect([nobody.status, nobody.json().code]).toEqual([404, "not-found"]);
  });

  it.each([true, false])(
    "accepted again while the word stands: the same answer, nothing written (entry: %s)",
    async (has) => {
      if (!has) withoutLog();
      await held("wipe");
      await world.deps.world.store.lock("device:7", "another pass", 60_000);
      const first = (await accept({ device: "w1" })).json();
      const before = (await world.deps.world.records.get(7))?.text;
      expect((await accept({ device: "w1" })).json()).toEqual({ ...first, new: false });
      expect((await world.deps.world.records.get(7))?.text).toBe(before);
    },
  );

  it("an owner's own request, made afterwards, stands above the word", async () => {
    await held("wipe");
    await world.deps.world.store.lock("device:7", "another pass", 60_000);
    await accept({ device: "w1" });
    const { netbox, store } = world.deps.world;
    await new Promise((resolve) => setTimeout(resolve, 2));
    netbox.owner(7, { desiredAction: "attest" });
    await store.unlock("device:7", "another pass");
    for (let n = 0; n < 3; n++) await pass();
    expect((await record()).acceptedRequest).toBeNull();
    expect((await record()).run?.kind).toBe("attest");
  });

  it("planned before fleetd's time: its first install is held, and accepted waits for the machine", async () => {
    await pass();
    expect(await said()).toContain("RequestHeld/request-held");
    expect((await accept({ device: "w1" })).json()).toMatchObject({ what: "install", new: true });
    await pass();
    expect(await said()).toEqual(["WaitsForMachine/no-machine"]);
    expect((await record()).run).toBeNull();
  });
});

describe("a request without an entry in the change log", () => {
  it("is carried out once, under an id of the acceptance; the field is cleared", async () => {
    withoutLog();
    await held("wipe");
    const { request } = (await accept({ device: "w1" })).json();
    expect(request).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-/);
    for (let n = 0; n < 4; n++) await pass();
    expect((await record()).run).toMatchObject({ kind: "wipe", request: { id: request } });
    expect(world.deps.world.netbox.row(7).desiredAction).toBeNull();
    expect((await record()).acceptedRequest).toBeNull();
    expect((await world.deps.world.bootPlane.objects()).workflows).toHaveLength(1);
  });

  it("the word is for the row as it was: changed before it was taken up, it is void, and said", async () => {
    withoutLog();
    await held("wipe");
    const { netbox, store } = world.deps.world;
    await store.lock("device:7", "another pass", 60_000);
    await accept({ device: "w1" });
    netbox.owner(7, { installDisk: "sda" });
    await store.unlock("device:7", "another pass");
    for (let n = 0; n < 3; n++) await pass();
    expect((await record()).run).toBeNull();
    expect(await said()).toContain("RequestHeld/request-held");
    expect(journal("the acceptance of wipe is void")).toHaveLength(1);
  });

  it("that nobody can read is accepted too", async () => {
    const { netbox } = world.deps.world;
    netbox.owner(7, { desiredAction: "wipe" });
    Object.assign(netbox, { changes: async () => Promise.reject(new PortError("rejected", "netbox", "403")) });
    await pass();
    expect(await said()).toContain("RequestsUnreadable/change-log");
    expect((await accept({ device: "w1" })).json()).toMatchObject({ what: "wipe", new: true });
    for (let n = 0; n < 3; n++) await pass();
    expect((await record()).run).toMatchObject({ kind: "wipe" });
  });

  it("a retirement is accepted as a request is", async () => {
    withoutLog();
    world.deps.world.netbox.owner(7, { status: "decommissioning" });
    await pass();
    expect(await said()).toContain("RequestHeld/request-held");
    expect((await accept({ device: "w1", what: "retire" })).json()).toMatchObject({ what: "retire" });
    await pass();
    expect((await record()).run).toMatchObject({ kind: "retire" });
  });
});
