import { describe, expect, it } from "vitest";
import { installConflictIn, inventoryIndex, type NodeOf, othersNodeIn } from "../../../shared/fleet/conflicts.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { aDevice } from "../../scenarios/fixtures.ts";

/** A device that shares nothing with another but what is said. */
function device(id: number, name: string, status = "active"): Device {
  const own = { serial: `SN${id}`, installDiskSerial: `D${id}`, oobAddress: `10.9.0.${id}`, approvedEks: [] };
  return { ...aDevice(), ...own, interfaces: [], id, name, status };
}

const node = (servedAtMs: number, name = "w1"): NodeOf => ({ name, servedAtMs });
const indexOf = (devices: readonly Device[], nodes: readonly (readonly [number, NodeOf])[]) =>
  inventoryIndex(devices, new Map(nodes.map(([id, one]) => [id, { uuid: null, node: one }])));

describe("a name that another device's Node has (ADR 0006)", () => {
  const [w1, renamed] = [device(7, "w1"), device(8, "w2")];

  it("is in the way of an install, until that one is installed anew, retired or set offline", () => {
    const text = "shares name w1 with the Node of w2 (device 8), installed under it and renamed since";
    expect(installConflictIn(indexOf([w1, renamed], [[8, node(1)]]), w1, null)).toBe(text);
    expect(installConflictIn(indexOf([w1, renamed], [[8, node(1)]]), renamed, null)).toBeNull();
    expect(installConflictIn(indexOf([w1, renamed], [[8, node(1, "w2")]]), w1, null)).toBeNull();
    expect(installConflictIn(indexOf([w1, { ...renamed, status: "offline" }], [[8, node(1)]]), w1, null)).toBeNull();
    expect(installConflictIn(indexOf([w1, renamed], [[7, node(1)]]), w1, null)).toBeNull();
  });
});

describe("whose a Node is, of several devices with its name", () => {
  const other = "w2 (device 8)";
  it.each<[string, string, NodeOf | null, string, NodeOf | null, string | null]>([
    ["one's own alone", "active", node(5), "active", null, null],
    ["the other was installed later", "active", node(5), "active", node(6), other],
    ["and is offline by now", "active", node(5), "offline", node(6), other],
    ["the other was installed before", "active", node(5), "active", node(4), null],
    ["never installed, the other was", "planned", null, "active", node(4), other],
    ["and is offline: its successor's", "planned", null, "offline", node(4), null],
    ["offline oneself, the other was before", "offline", node(5), "active", node(4), other],
    ["both offline: the later one's", "offline", node(5), "offline", node(4), null],
    ["both offline, seen by the earlier one", "offline", node(4), "offline", node(5), other],
  ])("%s", (_what, status, own, otherStatus, others, expected) => {
    const [mine, theirs] = [device(7, "w9", status), device(8, "w2", otherStatus)];
    const nodes = [...(own === null ? [] : [[7, own] as const]), ...(others === null ? [] : [[8, others] as const])];
    expect(
      othersNodeIn(indexOf([mine, theirs], nodes), { id: 7, name: "w1", own, hasLeft: status === "offline" }),
    ).toBe(expected);
  });

  it("offline, or never installed: whoever NetBox calls so now has it", () => {
    const successor = device(8, "w1", "planned");
    const index = indexOf([device(7, "w1", "offline"), successor], []);
    const seen = (own: NodeOf | null, hasLeft: boolean) => othersNodeIn(index, { id: 7, name: "w1", own, hasLeft });
    expect([seen(node(5), true), seen(null, false)]).toEqual(["w1 (device 8)", "w1 (device 8)"]);
    // Still to be drained, though it was set offline by hand: what it was installed with is its own.
    expect(seen(node(5), false)).toBeNull();
  });

  it("at one moment: one of the two, and only one", () => {
    const [a, b] = [device(7, "w1"), device(8, "w2")];
    const index = indexOf(
      [a, b],
      [
        [7, node(5)],
        [8, node(5)],
      ],
    );
    const all = [a, b].map(({ id }) => othersNodeIn(index, { id, name: "w1", own: node(5), hasLeft: false }));
    expect(all.filter((one) => one === null)).toHaveLength(1);
  });
});
