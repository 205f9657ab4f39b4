import { describe, expect, it } from "vitest";
import { pass, passForDevice } from "../../../shared/engine/pass.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { aRecord } from "../../functions/config/world.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { numbered, type Timed, timedWorld } from "./world.ts";

const HOUR = 3_600_000;
const conditions = async (t: Timed, id = 7) => (await t.record(id)).conditions.map((c) => `${c.type}/${c.reason}`);
const rest = async (t: Timed) => {
  for (let n = 0; n < 6; n++) await pass(t.world);
};

describe("a pass", () => {
  it("comes to rest: the next one writes nothing at all", async () => {
    const t = await timedWorld();
    t.world.netbox.declare(aDevice());
    await rest(t);
    const before = [(await t.world.records.all())[0]?.resourceVersion, t.world.netbox.row(7).lastUpdated];
    expect(await pass(t.world)).toMatchObject({ devices: 1, steps: 0, failed: 0 });
    expect([(await t.world.records.all())[0]?.resourceVersion, t.world.netbox.row(7).lastUpdated]).toEqual(before);
    expect(await conditions(t)).toEqual(["WaitsForMachine/no-machine"]);
  });

  it("is not done twice at once, and its lock ends by itself", async () => {
    const t = await timedWorld();
    await t.world.store.lock("pass", "a pass that died", t.world.settings.durations.passLockMs);
    expect(await pass(t.world)).toMatchObject({ skipped: true });
    t.pass(t.world.settings.durations.passLockMs + 1);
    expect(await pass(t.world)).toMatchObject({ skipped: false });
  });

  it("a locked device is left to whoever holds it", async () => {
    const t = await timedWorld();
    for (const id of [1, 2]) t.world.netbox.declare(numbered(id));
    await t.world.store.lock("device:1", "webhook", HOUR);
    await pass(t.world);
    expect((await t.world.records.all()).map((r) => r.deviceId)).toEqual([2]);
    expect(t.world.spireNodes).toBe('{\n  "nodes": []\n}\n');
  });
});

describe("a peer that is down", () => {
  it("boot plane: a condition; the request is kept and carried out once it is back", async () => {
    const t = await timedWorld();
    t.world.netbox.declare(aDevice());
    await rest(t);
    t.pass(1000);
    t.world.netbox.owner(7, { desiredAction: "provision" });
    t.world.bootPlane.down = true;
    await rest(t);
    expect(await conditions(t)).toContain("BootPlaneUnavailable/boot-plane-unavailable");
    expect((await t.record()).run).toBeNull();
    t.world.bootPlane.down = false;
    await rest(t);
    expect((await t.record()).run).toMatchObject({ kind: "provision", phase: "waiting" });
  });

  it("workload cluster: what is owed there is said, and paid later", async () => {
    const t = await timedWorld();
    t.world.netbox.declare(aDevice());
    await rest(t);
    await t.world.cluster.createToken({ id: "abc123", deviceId: 7, node: "w1", expiresAtMs: 1 }, "secret");
    await updateRecord(t.world, aDevice(), (r) => ({ ...r, due: [{ do: "delete-token", id: "abc123" }] }));
    t.world.cluster.down = true;
    await rest(t);
    expect(await conditions(t)).toContain("ClusterUnavailable/cluster-unavailable");
    t.world.cluster.down = false;
    await rest(t);
    expect(t.world.cluster.tokens.size).toBe(0);
    expect((await t.record()).due).toEqual([]);
    expect(await conditions(t)).not.toContain("ClusterUnavailable/cluster-unavailable");
  });

  it("NetBox at the journal: the line is owed, and said once", async () => {
    const t = await timedWorld();
    t.world.netbox.declare(aDevice());
    await rest(t);
    t.pass(1000);
    t.world.netbox.owner(7, { desiredAction: "attest" });
    const add = t.world.netbox.addJournal.bind(t.world.netbox);
    let lost = 0;
    t.world.netbox.addJournal = async (...args) => {
      lost++;
      if (lost === 1) throw new PortError("unavailable", "netbox", "no answer");
      await add(...args);
      // Written, but the answer was lost.
      if (lost === 2) throw new PortError("unavailable", "netbox", "no answer");
    };
    for (let n = 0; n < 10; n++) {
      t.pass(30_000);
      await pass(t.world);
    }
    const started = t.world.netbox.journal.filter((l) => l.text.startsWith("attest started"));
    expect(started).toHaveLength(1);
  });

  it.each(["netbox", "records"] as const)(
    "%s: the pass fails whole, changes nothing, and the next goes on",
    async (port) => {
      const t = await timedWorld();
      t.world.netbox.declare(aDevice());
      t.world[port].down = true;
      await expect(pass(t.world)).rejects.toMatchObject({ kind: "unavailable" });
      t.world[port].down = false;
      expect(await pass(t.world)).toMatchObject({ skipped: false, failed: 0 });
    },
  );

  it("one device that cannot be read fails alone; the SPIRE list goes by the records", async () => {
    const t = await timedWorld();
    for (const id of [1, 2, 3]) t.world.netbox.declare(numbered(id));
    await rest(t);
    t.world.spireNodes = "as it was";
    const one = t.world.netbox.device.bind(t.world.netbox);
    t.world.netbox.device = async (id) => {
      if (id === 1) throw new PortError("unavailable", "netbox", "no answer");
      return one(id);
    };
    for (const id of [1, 2, 3]) t.world.netbox.owner(id, { desiredAction: "attest" });
    t.pass(1000);
    const report = await pass(t.world);
    expect(report.failed).toBe(1);
    expect((await t.record(2)).run).toMatchObject({ kind: "attest" });
    expect((await t.record(3)).run).toMatchObject({ kind: "attest" });
    expect(t.world.spireNodes).toBe('{\n  "nodes": []\n}\n');
  });

  it("a record that is none is left as it is, and only its device fails", async () => {
    const t = await timedWorld();
    for (const id of [1, 2]) t.world.netbox.declare(numbered(id));
    await t.world.records.put(
      { deviceId: 1, name: "w1", uuid: null, node: null, open: false, text: '{"version":2}' },
      null,
    );
    expect((await pass(t.world)).failed).toBe(1);
    expect((await t.world.records.get(1))?.text).toBe('{"version":2}');
    expect((await t.record(2)).name).toBe("w2");
  });
});

describe("a conflict", () => {
  it("of the record or the row: read again, decided again, in the same pass", async () => {
    const t = await timedWorld();
    t.world.netbox.declare(aDevice());
    await rest(t);
    t.pass(1000);
    t.world.netbox.owner(7, { desiredAction: "provision" });
    const put = t.world.records.put.bind(t.world.records);
    let writes = 0;
    t.world.records.put = async (...args) => {
      writes++;
      // Another writer comes between: the handler notes a session.
      if (writes === 1) {
        const stored = await t.world.records.get(7);
        const text = JSON.stringify({ ...JSON.parse(stored?.text ?? ""), lastSessionAtMs: 5 });
        await put({ ...args[0], text }, stored?.resourceVersion ?? null);
      }
      return put(...args);
    };
    expect((await pass(t.world)).failed).toBe(0);
    const record = await t.record();
    expect(record.lastSessionAtMs).toBe(5);
    expect(record.run).toMatchObject({ kind: "provision" });
  });

  it("without an end is bounded, and nothing is enabled by it", async () => {
    const t = await timedWorld();
    t.world.netbox.declare({ ...aDevice(), desiredAction: "provision" });
    t.world.records.put = async () => Promise.reject(new PortError("conflict", "records", "moved"));
    await pass(t.world);
    expect((await t.world.bootPlane.objects()).workflows).toEqual([]);
  });
});

describe("slots", () => {
  it("are never more than the maximum, by requests; first installs do not wait and count", async () => {
    const t = await timedWorld({ maxDiskRuns: 2 });
    const ids = [1, 2, 3, 4, 5];
    for (const id of ids) t.world.netbox.declare(numbered(id, { status: "active" }));
    await rest(t);
    t.pass(1000);
    for (const id of ids) t.world.netbox.owner(id, { desiredAction: "provision" });
    const unfinished = async () => (await t.world.bootPlane.objects()).workflows.filter((w) => w.state !== "FAILED");
    for (let n = 0; n < 12; n++) {
      t.pass(30_000);
      await Promise.all([pass(t.world), ...ids.map((id) => passForDevice(t.world, id, "pass"))]);
      const running = await unfinished();
      expect(running.filter((w) => !w.disabled).length).toBeLessThanOrEqual(2);
      const [first] = running;
      if (n % 2 === 1 && first !== undefined) t.world.bootPlane.change(first.name, { state: "FAILED" });
    }
    const ended = await Promise.all(ids.map(async (id) => (await t.record(id)).run?.result));
    expect(ended).toEqual(ids.map(() => "failed"));
    t.world.netbox.declare(numbered(6));
    t.world.netbox.declare(numbered(7));
    t.world.netbox.declare(numbered(8));
    t.pass(1000);
    for (const id of [6, 7, 8]) await passForDevice(t.world, id, "confirm");
    expect((await unfinished()).filter((w) => !w.disabled)).toHaveLength(3);
  });
});

describe("an unread configuration", () => {
  const withConfig = async () => {
    const t = await timedWorld();
    t.world.netbox.declare(aDevice());
    await rest(t);
    const nowMs = t.world.clock.nowMs();
    const made = aRecord(nowMs);
    const run = made.run && {
      ...made.run,
      phase: "ended" as const,
      terminal: { state: "SUCCESS" as const, atMs: nowMs, action: null, detail: "" },
      result: "unread" as const,
    };
    await updateRecord(t.world, aDevice(), (r) => ({ ...r, run, config: made.config }));
    const entry = { deviceId: 7, codeHash: made.config?.codeHash ?? "", runId: "r", contentType: "t" };
    await t.world.store.putConfig({ ...entry, sealed: Uint8Array.of(1) }, 24 * HOUR);
    const stored = async () => (await t.world.store.keepConfig(7, 1e12)) === true;
    return { t, entry, stored };
  };

  it("is kept in the store for 7 days after SUCCESS, though its TTL is one; then it is gone, said", async () => {
    const { t, entry } = await withConfig();
    for (let hour = 0; hour < 7 * 24 - 1; hour++) {
      t.pass(HOUR);
      await pass(t.world);
    }
    expect((await t.record()).config?.state).toBe("unread");
    expect((await t.world.store.claimConfig(7, entry.codeHash, "probe", 1000)).state).toBe("claimed");
    await t.world.store.settleConfig(7, "probe", "release", 0);
    t.pass(2 * HOUR);
    await rest(t);
    expect((await t.record()).config?.state).toBe("removed");
    expect((await t.world.store.claimConfig(7, entry.codeHash, "probe", 1000)).state).toBe("missing");
    expect(t.world.netbox.journal.map((l) => l.text).join("\n")).toContain("the unread configuration and its token");
  });

  it("costs one step an hour: passes between write nothing", async () => {
    const { t } = await withConfig();
    await rest(t);
    let kept = 0;
    const keep = t.world.store.keepConfig.bind(t.world.store);
    Object.assign(t.world.store, {
      keepConfig: (...args: Parameters<typeof keep>) => {
        kept++;
        return keep(...args);
      },
    });
    const steps: number[] = [];
    for (let n = 0; n < 240; n++) {
      t.pass(60_000);
      steps.push((await pass(t.world)).steps);
    }
    expect(kept).toBe(4);
    expect(steps.filter((s) => s > 0)).toHaveLength(4);
  });

  it("outlives a run that takes longer than its TTL", async () => {
    const { t, stored } = await withConfig();
    await updateRecord(t.world, aDevice(), (r) => ({
      ...r,
      run: r.run && {
        ...r.run,
        phase: "running",
        result: null,
        terminal: null,
        timeoutMs: 100 * HOUR,
        begunAtMs: t.world.clock.nowMs(),
      },
    }));
    t.world.bootPlane.down = true;
    for (let hour = 0; hour < 30; hour++) {
      t.pass(HOUR);
      await pass(t.world);
    }
    expect((await t.record()).config?.state).toBe("unread");
    expect(await stored()).toBe(true);
  });
});
