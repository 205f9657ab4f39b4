import { expect, it } from "vitest";
import { acceptFailures } from "../../shared/engine/accept.ts";
import { pass } from "../../shared/engine/pass.ts";
import { loadFleet, storeRecord, updateRecord } from "../../shared/engine/records.ts";
import { freezeClass } from "../../shared/fleet/class.ts";
import type { NodeView } from "../../shared/fleet/cluster.ts";
import { CLASSES } from "../scenarios/fixtures.ts";
import { numbered, type Timed, timedWorld } from "../shared/engine/world.ts";
import { verdict } from "../shared/fleet/parts.ts";

const MINUTE = 60_000;
const NODE: NodeView = { name: "w7", uid: "n1", unschedulable: false, taints: [], annotations: {}, createdAtMs: 1 };

/** An active device at rest with its Node, its last whole walk a moment ago. */
async function atRest(): Promise<Timed> {
  const t = await timedWorld();
  t.world.netbox.declare(numbered(7, { status: "active" }));
  t.world.cluster.nodeList = [NODE];
  // The Node is the device's own: another's of that name is left alone.
  await updateRecord(t.world, numbered(7), (r) => ({ ...r, node: { name: NODE.name, uid: NODE.uid } }));
  await rests(t);
  return t;
}

async function rests(t: Timed): Promise<void> {
  for (let n = 0; n < 4; n++) {
    t.pass(10 * MINUTE);
    await pass(t.world);
  }
  t.pass(MINUTE);
}

const quarantined = (t: Timed, yes: boolean) =>
  updateRecord(t.world, numbered(7), (r) => ({
    ...r,
    quarantine: yes ? { by: "renewal", sinceMs: t.world.clock.nowMs(), node: "w7" } : null,
  }));
const cordoned = (t: Timed) => t.world.cluster.nodeList[0]?.unschedulable;

it("a look without the cluster leaves nothing at rest: the cordon goes as soon as the cluster answers", async () => {
  const t = await atRest();
  await quarantined(t, true);
  await rests(t);
  expect(cordoned(t)).toBe(true);
  t.world.cluster.down = true;
  await quarantined(t, false);
  for (let n = 0; n < 3; n++) {
    t.pass(1000);
    await pass(t.world);
  }
  t.world.cluster.down = false;
  t.pass(1000);
  await pass(t.world);
  expect(cordoned(t)).toBe(false);
  t.pass(1000);
  await pass(t.world);
  expect((await pass(t.world)).devices).toBe(0);
});

it("a record whose label is not what it says is seen by a walk: a quarantined node is held by every pass again", async () => {
  const t = await atRest();
  await quarantined(t, true);
  await rests(t);
  const stored = await t.world.records.get(7);
  // As an older fleetd wrote it, or a person who edited the ConfigMap.
  await storeRecord(t.world.records, await t.record(), stored?.resourceVersion ?? null, false);
  t.pass(9 * MINUTE);
  await pass(t.world);
  t.world.cluster.nodeList = [NODE];
  t.pass(1000);
  await pass(t.world);
  expect(cordoned(t)).toBe(true);
});

it("a row that moved after the walk is looked at, also where NetBox's clock is far behind", async () => {
  const t = await atRest();
  const behindMs = 40 * MINUTE;
  // NetBox runs forty minutes behind from now on, and so does all that it said before.
  const iso = (ms: number) => new Date(ms).toISOString().replace(/Z$/, "000Z");
  const { fleet, resourceVersion } = await loadFleet(t.world);
  const nowMs = t.world.clock.nowMs();
  const walk = { startMs: nowMs - MINUTE, newest: iso(nowMs - MINUTE - behindMs), devices: 1 };
  await t.world.records.putFleet(JSON.stringify({ ...fleet, walks: { "": walk } }), resourceVersion);
  const rows = [{ id: 7, lastUpdated: iso(nowMs - MINUTE - behindMs) }];
  t.world.netbox.changedSince = async () => ({ rows, parts: [] });
  expect((await pass(t.world)).devices).toBe(0);
  rows.push({ id: 7, lastUpdated: iso(nowMs - behindMs) });
  expect((await pass(t.world)).devices).toBe(1);
});

it("a word that comes while a walk goes on makes the next pass a walk all the same", async () => {
  const t = await timedWorld();
  for (let id = 1; id <= 2; id++) t.world.netbox.declare(numbered(id, { status: "active" }));
  await rests(t);
  const cls = freezeClass("talos-worker", CLASSES, null);
  if (cls === null) throw new Error("no class");
  const installed = { class: cls, servedAtMs: 1, run: "x", activatedAtMs: 1 };
  const failed = verdict({ by: "intake", atMs: 5, heldBack: true });
  await updateRecord(t.world, numbered(1), (r) => ({ ...r, installed, verdict: failed }));
  await rests(t);
  t.pass(10 * MINUTE);
  const { writeSpireNodes } = t.world.files;
  let accepted = false;
  t.world.files.writeSpireNodes = async (text) => {
    // The walk has looked at every device by now, and has not said that it was one.
    if (!accepted) await acceptFailures(t.world, "alice");
    accepted = true;
    return writeSpireNodes(text);
  };
  await pass(t.world);
  t.pass(1000);
  await pass(t.world);
  expect((await t.record(1)).quarantine).not.toBeNull();
});
