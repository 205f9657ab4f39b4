import { describe, expect, it } from "vitest";
import { mint } from "../../../functions/attest/mint.ts";
import { configApp } from "../../../functions/config/app.ts";
import type { ConfirmClaims } from "../../../shared/attest/session.ts";
import { pass, passForDevice } from "../../../shared/engine/pass.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import type { World } from "../../../shared/engine/world.ts";
import type { WorkflowView } from "../../../shared/fleet/boot-plane.ts";
import { admissionAnswer } from "../../../shared/fleet/plan/admit.ts";
import { sessionCertificates } from "../../fakes/session-certificates.ts";
import { fakeDeps } from "../../fakes/world.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { Killed, Mortal } from "./mortal.ts";
import { type Timed, timedWorld } from "./world.ts";

const UUID = "4c4c4544-0034-4410-8043-b7c04f335131";
const session = await sessionCertificates(Date.UTC(2026, 10, 29, 12));
const CLAIMS: ConfirmClaims = {
  step: "confirm",
  deviceId: 7,
  serial: "SN0001",
  uuid: UUID,
  akPublic: "",
  ldevidPublic: "",
  nonce: "",
  bank: "sha256",
  select: [7],
  eks: [],
  ldevid: session.ldevidPem,
  lak: session.lakPem,
  mac: "52:54:00:00:00:07",
  lldp: null,
  confirm: "",
};
const TICKS = 80;

/** One machine with its actors, and what must hold at every step (spec/80: 1, 2, 16, 17). */
class Story {
  readonly t: Timed;
  readonly enabled: string[] = [];
  code: string | null = null;

  constructor(t: Timed) {
    this.t = t;
    const { bootPlane, records } = t.world;
    const create = bootPlane.create.bind(bootPlane);
    const enable = bootPlane.enableWorkflow.bind(bootPlane);
    bootPlane.create = async (manifest) => {
      if (manifest.kind === "Workflow") {
        const { run } = await t.record();
        expect(run?.name).toBe(manifest.metadata.name);
        expect(run?.disk?.serial).toBe("S4XYNX0R123456");
        expect(manifest.spec.disabled).toBe(true);
      }
      return create(manifest);
    };
    bootPlane.enableWorkflow = async (...args) => {
      await enable(...args);
      this.enabled.push(args[0]);
      const open = await this.open();
      expect(open.map((w) => w.name)).toEqual([args[0]]);
      expect((await records.get(7)) === null).toBe(false);
    };
  }

  /** Enabled and unfinished Workflows. */
  async open(): Promise<WorkflowView[]> {
    const { workflows } = await this.t.world.bootPlane.objects();
    return workflows.filter((w) => !w.disabled && w.state !== "SUCCESS" && w.state !== "FAILED");
  }

  /** Agent and BMC do one thing each. */
  async actors(mayEnd: boolean): Promise<void> {
    const { bootPlane } = this.t.world;
    const nowMs = this.t.world.clock.nowMs();
    for (const w of await this.open()) {
      const done = w.state === "RUNNING" && mayEnd;
      const actions = w.actions.map((a, i) => ({
        ...a,
        state: done ? ("SUCCESS" as const) : i === 0 ? ("RUNNING" as const) : a.state,
        startedAtMs: nowMs + i,
        stoppedAtMs: done ? nowMs + i : null,
      }));
      bootPlane.change(w.name, { state: done ? "SUCCESS" : "RUNNING", actions });
    }
  }

  /** The machine attests and confirms, as long as it has no code. */
  async confirms(world: World): Promise<void> {
    if (this.code !== null) return;
    const passed = await passForDevice(world, 7, "confirm");
    if (passed === null || passed === "locked") return;
    const answer = admissionAnswer(passed.observed);
    if (answer.outcome !== "install") return;
    const minted = await mint({ ...fakeDeps(this.t.world), world }, passed.observed.device, answer.run, CLAIMS);
    if (minted.ok) this.code = minted.code;
  }
}

/** Lives a story with a process that dies at its n-th call; returns how many calls the first life made. */
async function live(
  story: Story,
  at: number,
  after: boolean,
  tick: (world: World, n: number) => Promise<void>,
  ended: () => Promise<boolean>,
): Promise<{ calls: number; died: boolean }> {
  const mortal = new Mortal(story.t.world, at, after);
  let world: World = mortal.world;
  for (let n = 0; n < TICKS; n++) {
    story.t.pass(30_000);
    try {
      await tick(world, n);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      // Started again: another process, with nothing of the first in its memory.
      world = story.t.world;
    }
    if (await ended()) return { calls: mortal.calls, died: mortal.died };
  }
  throw new Error(`no end after death at ${at}: ${JSON.stringify((await story.t.record()).conditions)}`);
}

async function firstInstall(at: number, after: boolean) {
  const t = await timedWorld();
  const { world } = t;
  const story = new Story(t);
  world.netbox.declare(aDevice());
  await updateRecord(world, aDevice(), (r) => ({ ...r, uuid: UUID }));
  const life = await live(
    story,
    at,
    after,
    async (living) => {
      await story.actors(story.code !== null);
      const { run, config } = await t.record();
      if (run?.result === "unread" && story.code !== null) {
        if (config?.state === "served") return void (await pass(living));
        // That it is served once, whatever dies, is told in test/functions/config.
        const response = await configApp(fakeDeps(world)).request(`/talos/config?uuid=${UUID}&code=${story.code}`);
        await response.text();
      } else if (run?.result !== "success") await story.confirms(living);
      await pass(living);
    },
    async () => (await t.record()).run?.result === "success" && world.netbox.row(7).status === "active",
  );
  for (let n = 0; n < 8; n++) {
    t.pass(30_000);
    await pass(world);
  }
  expect((await pass(world)).steps).toBe(0);
  const { hardware } = await world.bootPlane.objects();
  expect(hardware.map((h) => h.allowPxe)).toEqual([false]);
  expect(JSON.parse((await world.records.fleet())?.text ?? "").slots).toEqual([]);
  expect(story.enabled).toHaveLength(1);
  expect([...world.cluster.tokens.keys()]).toEqual([(await t.record()).token?.id]);
  const said = world.netbox.journal.map((l) => l.text.replace(/ \[.*/, ""));
  expect(said).toHaveLength(new Set(said).size);
  return life;
}

async function retirement(at: number, after: boolean) {
  const t = await timedWorld();
  const { world } = t;
  const story = new Story(t);
  world.netbox.declare({ ...aDevice(), status: "active" });
  const pod = { namespace: "default", name: "web", uid: "p1", node: "w1", phase: "Running" };
  world.cluster.nodeList = [
    { name: "w1", uid: "n1", unschedulable: false, taints: [], annotations: {}, createdAtMs: 1 },
  ];
  world.cluster.podList = [{ ...pod, terminating: false, mirror: false, daemonSet: false }];
  await pass(world);
  t.pass(1000);
  world.netbox.owner(7, { status: "decommissioning" });
  const { bootPlane } = world;
  const life = await live(
    story,
    at,
    after,
    async (living) => {
      await story.actors(true);
      for (const job of (await bootPlane.objects()).jobs) bootPlane.changeJob(job.name, { state: "completed" });
      await pass(living);
    },
    async () => (await t.record()).retire?.offlineAtMs != null,
  );
  const record = await t.record();
  expect(world.netbox.row(7).status).toBe("offline");
  expect(record.retire?.erasedAtMs).not.toBeNull();
  expect(record.retire?.offAtMs).toBeGreaterThanOrEqual(record.retire?.erasedAtMs ?? Number.NaN);
  expect(world.cluster.nodeList).toEqual([]);
  expect(story.enabled).toHaveLength(1);
  for (let n = 0; n < 8; n++) {
    t.pass(30_000);
    await pass(world);
  }
  expect((await pass(world)).steps).toBe(0);
  expect(JSON.parse((await world.records.fleet())?.text ?? "").slots).toEqual([]);
  return life;
}

describe.each([
  ["a first install", firstInstall],
  ["a retirement", retirement],
] as const)("%s", (_name, tell) => {
  it("ends well when nobody dies", async () => {
    expect(await tell(Number.POSITIVE_INFINITY, false)).toMatchObject({ died: false });
  });

  it.each([false, true])(
    "killed at every call in turn (after it: %s) ends right, with one Workflow ever",
    async (after) => {
      const { calls } = await tell(Number.POSITIVE_INFINITY, after);
      expect(calls).toBeGreaterThan(50);
      const wrong: string[] = [];
      for (let at = 1; at <= calls; at++)
        await tell(at, after).then(
          ({ died }) => died || wrong.push(`${at}: did not die`),
          (error: Error) => wrong.push(`${at}: ${error.message.slice(0, 300)}`),
        );
      expect(wrong).toEqual([]);
    },
    120_000,
  );
});
