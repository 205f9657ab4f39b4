import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { updateRecord } from "../../../shared/engine/records.ts";
import type { DeviceRecord } from "../../../shared/fleet/record.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { type Answer, type Certificates, Node } from "./node.ts";
import { type NodeKey, SoftwareNodeTpm } from "./node-tpm.ts";
import { ID, RenewWorld, type WorldOptions } from "./world.ts";

export interface Box {
  readonly tpm: SoftwareNodeTpm;
  readonly world: RenewWorld;
  readonly node: Node;
}

/** One installed node for a file's tests; before each, record, NetBox's row and the node are as they were at first. */
export function boxed(options: Omit<WorldOptions, "eks"> = {}): () => Box {
  let tpm: SoftwareNodeTpm;
  let world: RenewWorld;
  let node: Node;
  let record: DeviceRecord;
  let certificates: Certificates;
  let ldevid: NodeKey;
  beforeAll(async () => {
    tpm = await SoftwareNodeTpm.open();
    world = await RenewWorld.start({ ...options, eks: tpm.eks.map((ek) => ek.digest) });
    node = await Node.installed(tpm, world);
    record = await world.record();
    ({ certificates, ldevid } = node);
  });
  beforeEach(async () => {
    await updateRecord(world.deps.world, aDevice(), () => record);
    const { id: _, lastUpdated: __, ...row } = aDevice();
    const approvedEks = tpm.eks.map(({ digest }) => ({ digest, source: "SCAN:1" }));
    world.deps.world.netbox.owner(ID, { ...row, approvedEks, status: "active" });
    Object.assign(node, { certificates, ldevid });
    await node.boot("os", "fleet_stage=os");
  });
  afterAll(async () => {
    await world?.close();
    await tpm?.close();
  });
  return () => ({ tpm, world, node });
}

/** Asserts a problem document of this status and code. */
export function expectRefused(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body.code], String(answer.body.detail)).toEqual([status, code]);
  expect(answer.body).toMatchObject({ type: `https://fleetd.dev/problems/${code}`, title: code, status });
  expect(String(answer.body.detail)).toMatch(/./);
  expect([answer.body.ldevid, answer.body.lak, answer.body.session]).toEqual([undefined, undefined, undefined]);
}
