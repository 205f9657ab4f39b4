import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseRecord, updateRecord } from "../../../shared/engine/records.ts";
import { ADMIN_TOKEN, AdminWorld } from "../../functions/admin-world.ts";
import { numbered } from "../../shared/engine/world.ts";
import { run, textFile } from "./cli.ts";

let world: AdminWorld;
let env: Record<string, string>;
beforeEach(async () => {
  world = await AdminWorld.start();
  env = { FLEETCTL_URL: world.url("admin"), FLEETCTL_TOKEN_FILE: textFile(`${ADMIN_TOKEN}\n`, "token") };
});
afterEach(() => world.close());

const fleetctl = (...args: string[]) => run(args, env);
const pass = () => world.ask("admin", "POST", "/reconcile", { body: '{"device":"w1"}' });
/** A wipe that is older than fleetd's memory. */
async function held(): Promise<void> {
  world.deps.world.netbox.owner(7, { desiredAction: "wipe" });
  for (let n = 0; n < 2; n++) await pass();
}
async function record() {
  const stored = await world.deps.world.records.get(7);
  if (stored === null) throw new Error("no record");
  return parseRecord(stored);
}

describe("fleetctl devices", () => {
  test("each with its status, what goes on, and the worst of what it waits for", async () => {
    world.deps.world.netbox.declare({ ...numbered(11), name: "a2", status: "active" });
    world.deps.world.netbox.owner(7, { desiredAction: "wipe" });
    await world.ask("admin", "POST", "/reconcile", { body: "{}" });
    const { code, out } = await fleetctl("devices");
    expect(code).toBe(0);
    const [head, a2, w1, ...more] = out.split("\n");
    expect(head).toMatch(/^DEVICE +STATUS +DOING +WORST CONDITION$/);
    expect(a2).toMatch(/^a2 +active +not installed by fleetd +StatusNotEarned: active, but fleetd served/);
    expect(w1).toMatch(/^w1 +planned +waits +RequestHeld: wipe is held: it is older than .*fleetctl accept w1/);
    expect(more).toEqual([]);
  });

  test("none; as JSON; what a machine sent does not move the terminal", async () => {
    world.deps.world.netbox.owner(7, { serial: "X\u001b[31m" });
    const device = JSON.parse((await fleetctl("devices", "--json")).out).devices[0];
    expect(device).toMatchObject({ name: "w1", serial: "X\u001b[31m", conditions: [] });
    await updateRecord(world.deps.world, { id: 7, name: "w1" }, (r) => ({
      ...r,
      conditions: [{ type: "OfTomorrow", reason: "x", message: "m\u001b[31m", sinceMs: 1, about: "" }],
    }));
    expect((await fleetctl("devices")).out).toMatch(/OfTomorrow: m\\u001b\[31m$/);
    Object.assign(world.deps.world.netbox, { devices: async () => [] });
    await new Promise((resolve) => setTimeout(resolve, 3));
    expect((await fleetctl("devices")).out).toBe("no devices");
    expect((await fleetctl("devices", "w1")).code).toBe(64);
  });

  test("what waits for a word about the whole fleet comes first, and vanished devices are listed", async () => {
    await updateRecord(world.deps.world, { id: 99, name: "gone" }, (r) => ({
      ...r,
      absentSinceMs: 1,
      conditions: [{ type: "MassVanish", reason: "many-at-once", message: "gone is missing", sinceMs: 1, about: "" }],
    }));
    const lines = (await fleetctl("devices")).out.split("\n");
    expect(lines[0]).toMatch(/^MassVanish: 1 devices vanished from NetBox: .*fleetctl accept --vanished$/);
    expect(lines[1]).toMatch(/^ {2}cleared by: NetBox shows the device again/);
    expect(lines.at(-1)).toMatch(/^gone +\(not in NetBox\) +vanished +MassVanish: gone is missing$/);
  });
});

describe("fleetctl explain", () => {
  test("what it waits for, who acts, what clears it, what comes next, what happened", async () => {
    await held();
    const { code, out } = await fleetctl("explain", "w1");
    expect(code).toBe(0);
    expect(out).toMatch(/^w1: planned, waits\n {2}serial SN0001, class talos-worker, asked for wipe\n/);
    expect(out).toMatch(/\n {2}RequestHeld \(request-held\), since 20\d\d-/);
    expect(out).toContain(
      "\n    who acts:    the device's owner\n    cleared by:  The owner sets the request again, or",
    );
    expect(out).toContain("\nWhat fleetd does next:\n  Nothing, until something of this changes.\n");
    expect(out).toMatch(/\nWhat happened:\n {2}20\S+Z {2}warning {2}wipe is held: it is older than fleetd's memory/);
  });

  test("where nothing waits, what the next pass does is said", async () => {
    await pass();
    await fleetctl("accept", "w1");
    await updateRecord(world.deps.world, { id: 7, name: "w1" }, (r) => ({ ...r, conditions: [] }));
    const { out } = await fleetctl("explain", "w1");
    expect(out).toContain("It waits for nothing.");
    expect(out).toMatch(/What fleetd does next:\n {2}1\. writes down the condition WaitsForMachine\/no-machine\n/);
  });

  test("as JSON both answers; a plan that cannot be told takes nothing away", async () => {
    await held();
    const { device, plan } = JSON.parse((await fleetctl("explain", "w1", "--json")).out);
    expect([device.name, device.timeline[0].level, plan.steps]).toEqual(["w1", "warning", []]);
    Object.assign(world.deps.world, { policy: { current: async () => Promise.reject(new TypeError("a bug")) } });
    const told = await fleetctl("explain", "w1");
    expect([told.code, told.out]).toEqual([
      0,
      expect.stringContaining("  cannot be told now: internal: fleetd failed"),
    ]);
  });

  test("no such device, a wrong call", async () => {
    const nobody = await fleetctl("explain", "w9");
    expect([nobody.code, nobody.err]).toEqual([1, "fleetctl explain: not-found: no device of the fleet has that name"]);
    for (const args of [[], ["w1", "w2"]]) expect((await fleetctl("explain", ...args)).code).toBe(64);
  });
});

describe("fleetctl plan", () => {
  test("of one: the steps in order, and that more follows; nothing is done", async () => {
    await held();
    await fleetctl("accept", "w1");
    for (let n = 0; n < 4; n++) await pass();
    world.deps.world.netbox.owner(7, { desiredAction: "attest" });
    const before = await world.everything();
    const { code, out } = await fleetctl("plan", "w1");
    expect(code).toBe(0);
    expect(out).toMatch(/^w1: planned\n {2}1\. writes down the condition RequestWaits\/other-run\n/);
    expect(out).toContain("It will wait for:\n  RequestWaits (other-run): attest waits until wipe has ended");
    expect(await world.everything()).toBe(before);
  });

  test("of all: those with something to do", async () => {
    const { out } = await fleetctl("plan");
    expect(out).toMatch(/^w1: planned\n +1\. writes down /);
    expect(out).toMatch(/\. writes Hardware f7: the machine may not netboot\n/);
    for (let n = 0; n < 3; n++) await pass();
    expect((await fleetctl("plan")).out).toBe("nothing to do with any device");
    expect(JSON.parse((await fleetctl("plan", "--json")).out)).toEqual({ devices: [] });
    world.deps.world.netbox.owner(7, { desiredAction: "wipe" });
    expect((await fleetctl("plan")).out).toMatch(
      /1\. writes down that RequestHeld\/request-held is over\n {2}2\. takes a slot for disk runs, for f7-wipe-\S+\n {2}Then fleetd looks again: what follows depends on what came of this\.$/,
    );
    expect((await fleetctl("plan", "w9")).code).toBe(1);
    expect((await fleetctl("plan", "w1", "w2")).code).toBe(64);
  });
});

describe("fleetctl accept", () => {
  test("the request that is held now, once; again is no fault", async () => {
    await held();
    await world.deps.world.store.lock("device:7", "another pass", 60_000);
    const first = await fleetctl("accept", "w1");
    expect([first.code, first.out]).toEqual([0, expect.stringMatching(/^accepted: wipe of w1, once \(request \S+\)$/)]);
    const again = await fleetctl("accept", "w1");
    expect([again.code, again.out]).toEqual([
      0,
      expect.stringMatching(/^accepted already, by token, 20\S+: wipe of w1/),
    ]);
    await world.deps.world.store.unlock("device:7", "another pass");
    await pass();
    expect((await record()).run?.kind).toBe("wipe");
    const used = await fleetctl("accept", "w1");
    expect([used.code, used.err]).toEqual([
      1,
      expect.stringMatching(/^fleetctl accept: nothing-to-accept: w1 has no held/),
    ]);
  });

  test("a request that took the held one's place meanwhile is not accepted with it", async () => {
    await held();
    await updateRecord(world.deps.world, { id: 7, name: "w1" }, (r) => ({
      ...r,
      conditions: r.conditions.map((c) => ({ ...c, about: "attest" })),
    }));
    const { code, err } = await fleetctl("accept", "w1");
    expect([code, err]).toEqual([1, expect.stringContaining("w1 has no held attest to accept")]);
    expect((await record()).acceptedRequest).toBeNull();
  });

  test("for the fleet; as JSON also where it is refused", async () => {
    await updateRecord(world.deps.world, { id: 99, name: "gone" }, (r) => ({
      ...r,
      absentSinceMs: 1,
      conditions: [{ type: "MassVanish", reason: "many-at-once", message: "m", sinceMs: 1, about: "" }],
    }));
    const { code, out } = await fleetctl("accept", "--vanished");
    expect([code, out]).toEqual([
      0,
      "accepted: 1 vanished devices: what fleetd made for them is deleted by the next pass",
    ]);
    const failures = await fleetctl("accept", "--failures", "--json");
    expect([failures.code, JSON.parse(failures.out).code]).toEqual([1, "nothing-to-accept"]);
  });

  test.each([[], ["w1", "w2"], ["w1", "--vanished"], ["--vanished", "--failures"]])(
    "%j is a wrong call",
    async (...args) => {
      expect((await fleetctl("accept", ...args)).code).toBe(64);
    },
  );

  test("no such device, no listener, no leave", async () => {
    expect((await fleetctl("accept", "w9")).code).toBe(1);
    expect((await run(["accept", "w1", "--url", "http://127.0.0.1:1"], env)).code).toBe(2);
    const other = await run(["accept", "w1"], { ...env, FLEETCTL_TOKEN_FILE: textFile("another", "token") });
    expect([other.code, other.err]).toEqual([1, expect.stringContaining("unauthorized")]);
  });
});
