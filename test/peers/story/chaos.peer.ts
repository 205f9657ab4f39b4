import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, listAt, textAt } from "../../../infra/lab/kubernetes/json.ts";
import { type Stage, StoryEnds } from "../../../infra/lab/story/stage.ts";
import { NAMESPACE } from "../../../infra/lab/world/peers.ts";
import { type Chaos, startChaos } from "./chaos.ts";
import { type RealStage, realStage } from "./stage.ts";

const STORY_MS = 1_500_000;
const SEED = Number(process.env.FLEETD_CHAOS_SEED ?? 1);
const WORKFLOWS = `/apis/tinkerbell.org/v1alpha1/namespaces/${NAMESPACE}/workflows`;
const HARDWARE = `/apis/tinkerbell.org/v1alpha1/namespaces/${NAMESPACE}/hardware`;
const LIMIT_SECONDS = 120;

/** Each Workflow that was ever seen, by its UID: the runs that fleetd began. */
function followWorkflows(s: Stage): { readonly seen: Map<string, string>; stop(): Promise<void> } {
  const seen = new Map<string, string>();
  let ended = false;
  const loop = (async () => {
    while (!ended) {
      const all = await s.lab.tinkerbell.list(WORKFLOWS).catch(() => []);
      for (const { metadata } of all) {
        const labels = metadata.labels ?? {};
        seen.set(metadata.uid, `${textAt(labels, "fleetd.dev/run-kind")} ${textAt(labels, "fleetd.dev/request-id")}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  const stop = async () => {
    ended = true;
    await loop;
  };
  return { seen, stop };
}

async function declared(s: Stage): Promise<void> {
  const order = { name: "k1", serial: "LAB-0101", number: 21, diskSerial: "DISK-K1", withBmc: true };
  const machine = await s.machines.add({ ...order, port: "port3" });
  const eks = machine.eks.map((digest) => ({ digest, source: "SUPPLIER:delivery note 4711" }));
  await s.owner.declare({ ...order, switchPort: "port3", eks });
}

describe(`fleetd killed again and again among real peers, seed ${SEED}`, () => {
  let real: RealStage | undefined;
  let chaos: Chaos | undefined;
  beforeAll(async () => {
    // HookOS must not give up while fleetd is away.
    real = await realStage({ attestTries: 60 });
  }, STORY_MS);
  afterAll(async () => {
    await chaos?.end();
    await real?.stop();
  }, 120_000);

  it(
    "planned, active, attested, retired: each thing happens once",
    async () => {
      if (real === undefined) throw new Error("the stage did not start");
      const s = real.stage;
      const workflows = followWorkflows(s);
      await declared(s);
      const killing = startChaos(s.lab, SEED);
      chaos = killing;
      const until = (code: string, holds: () => Promise<boolean>) => s.until("k1", code, code, LIMIT_SECONDS, holds);
      try {
        await until("waits", () => s.hasCondition("k1", "WaitsForMachine"));
        await s.machines.power("k1", "on", "pxe");
        await until("active", async () => (await s.owner.status("k1")) === "active");
        await until("joined", async () => (await s.machines.state("k1")).node === "k1");
        await until("token-deleted", async () => (await s.device("k1")).token?.deleted != null);
        await s.owner.request("k1", "attest");
        await until("attested", async () => {
          const { run } = await s.device("k1");
          return run?.kind === "attest" && run.result === "attested";
        });
        await until("back", async () => (await s.machines.state("k1")).runs === "talos");
        await s.owner.setStatus("k1", "decommissioning");
        await until("offline", async () => (await s.owner.status("k1")) === "offline");
        await until("retired", async () => s.journaled("k1", /retired: erased, off/));
      } catch (error) {
        if (!(error instanceof StoryEnds)) throw error;
      } finally {
        await killing.end();
        await workflows.stop();
      }
      expect(s.failed, real.tail()).toEqual([]);
      expect(killing.killed.serve, "kills of serve").toBeGreaterThanOrEqual(3);
      expect(killing.killed.reconcile, "kills of reconcile").toBeGreaterThanOrEqual(1);

      const runs = [...workflows.seen.values()];
      const kinds = ["attest", "provision", "retire", ...real.again.lost()];
      expect(runs.map((run) => run.split(" ")[0]).sort()).toEqual(kinds.sort());
      const machine = await s.machines.state("k1");
      expect(machine.configStatuses.filter((status) => status === 200)).toEqual([200]);
      expect(machine.on).toBe(false);
      expect(await s.lab.cluster.get("/api/v1/nodes/k1")).toBeNull();
      const secrets = await s.lab.cluster.list("/api/v1/namespaces/kube-system/secrets");
      expect(secrets.filter(({ metadata }) => metadata.name.startsWith("bootstrap-token-"))).toEqual([]);
      for (const hardware of await s.lab.tinkerbell.list(HARDWARE))
        for (const port of listAt(hardware, "spec", "interfaces")) expect(at(port, "netboot", "allowPXE")).toBe(false);
      const lines = s.teller.lines.filter(({ source, device }) => source === "journal" && device === "k1");
      const told = lines.map(({ code, text }) => `${code} ${text}`);
      expect(told).toEqual([...new Set(told)]);
      for (const once of [/served once, to its last byte/, /^active: /, /approved for node k1/, /retired: erased, off/])
        expect(lines.filter(({ text }) => once.test(text)).map(({ text }) => text)).toHaveLength(1);
    },
    STORY_MS,
  );
});
