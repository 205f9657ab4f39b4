import { afterEach, expect, test } from "vitest";
import type { Device } from "../../../shared/fleet/device.ts";
import { boxed, expectRefused } from "./box.ts";
import { ID } from "./world.ts";

const box = boxed();
const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
});

/** What happens outside while the signer works. */
function whileSigning(happens: () => void): void {
  const { signer } = box().world.deps.world;
  const { sign } = signer;
  undo.push(() => Object.assign(signer, { sign }));
  Object.assign(signer, {
    sign: (tbs: Uint8Array) => {
      happens();
      return sign.call(signer, tbs);
    },
  });
}

test.each([
  ["decommissions", { status: "decommissioning" }, 409, "not-expected"],
  ["takes the device out of service", { status: "failed" }, 409, "not-expected"],
  [
    "approves another TPM",
    { approvedEks: [{ digest: `sha256:${"f".repeat(64)}`, source: "SCAN:2" }] },
    409,
    "identity-changed",
  ],
  ["corrects the serial", { serial: "SN9999" }, 409, "identity-changed"],
] as const)("the owner %s: nothing is handed out or recorded", async (_what, change, status, code) => {
  const { node, world } = box();
  const { identity } = await world.record();
  whileSigning(() => world.deps.world.netbox.owner(ID, change));
  expectRefused(await node.renewal(), status, code);
  expect((await world.record()).identity).toEqual(identity);
});

test("a row older than one that a decision was made on renews nothing; the next one does", async () => {
  const { node, world } = box();
  const { netbox } = world.deps.world;
  const { lastUpdated } = netbox.row(ID);
  await world.change({ rowSeen: lastUpdated });
  await node.renewed();
  const older = (row: Device | null) => row && { ...row, lastUpdated: "2026-11-29T11:59:59.999999Z" };
  const { device, devices } = netbox;
  undo.push(() => Object.assign(netbox, { device, devices }));
  Object.assign(netbox, { device: async (id: number) => older(await device.call(netbox, id)) });
  // begin's copy is of the newest row; evidence reads by id.
  expectRefused(await node.renewal(), 503, "inventory-unavailable");
  Object.assign(netbox, {
    device,
    devices: async (...of: []) => (await devices.apply(netbox, of)).map((row) => older(row) ?? row),
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  // The copy is behind fleetd's own write: the device is read afresh.
  await node.renewed();
});
