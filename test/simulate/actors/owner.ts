import type { Device } from "../../../shared/fleet/device.ts";
import { CLASSES, declared } from "../fleet.ts";
import { at } from "../random.ts";
import type { Sim } from "../sim.ts";

type Change = Partial<Omit<Device, "id" | "lastUpdated">>;

const STATUSES = ["planned", "active", "decommissioning", "offline", "staged"];

/** What an act writes into a row; null where it is no edit of one row. */
function edit(sim: Sim, name: string, device: number, n: number): Change | null {
  const machine = sim.machines[device];
  const other = at(sim.machines, device + 1);
  if (machine === undefined) return null;
  switch (name) {
    case "plan":
      return { status: "planned" };
    case "provision":
      return { desiredAction: "provision" };
    case "attest":
      return { desiredAction: "attest" };
    case "wipe":
      return { desiredAction: "wipe" };
    case "active":
      return { status: "active" };
    case "retire":
      return { status: "decommissioning" };
    case "offline":
      return { status: "offline" };
    case "status":
      return { status: at(STATUSES, n) };
    case "take-back":
      return { desiredAction: null };
    case "protect":
      return { protected: true };
    case "unprotect":
      return { protected: false };
    case "class":
      return { fleetClass: at([...Object.keys(CLASSES), "nosuch", null], n) };
    case "disk":
      return { installDiskSerial: at([null, "OTHERDISK", "bad serial", machine.diskSerial], n) };
    case "keys":
      return { approvedEks: at([null, "text", [{ digest: other.board.digests[1], source: "SCAN:2" }]], n) };
    case "name":
      return { name: at([`w${device + 1}`, `n${device + 1}`, `w${device + 2}`, "Not A Name"], n) };
    case "serial":
      return { serial: at([machine.serial, other.serial, ""], n) };
    case "token":
      return { clusterTokenApproved: n % 2 === 0 };
    case "bmc":
      return at([{ bmcType: null, oobAddress: null }, { oobAddress: "192.0.2.1" }, { bmcType: "nosuch" }], n);
    default:
      return null;
  }
}

/** All of a row that owners own, as it should be. */
export function mended(sim: Sim, device: number): Change {
  const machine = sim.machines[device];
  if (machine === undefined) return {};
  const row = sim.netbox.rows.get(device + 1);
  const right = declared(device, machine.board, "worker", machine.bmc !== null);
  const { status: _status, desiredAction: _action, shown: _shown, interfaces: _interfaces, id: _id, ...owned } = right;
  const known = row !== undefined && Object.hasOwn(CLASSES, row.fleetClass ?? "");
  return { ...owned, fleetClass: known ? (row?.fleetClass ?? "worker") : "worker", clusterTokenApproved: true };
}

/** One act of an owner. */
export function ownerAct(sim: Sim, name: string, device: number, n: number): void {
  const id = device + 1;
  const { netbox } = sim;
  const change = edit(sim, name, device, n);
  if (change !== null) return netbox.owner(new Map([[id, change]]));
  switch (name) {
    case "mend":
      return netbox.owner(new Map([[id, mended(sim, device)]]));
    case "bulk": {
      const all = [...netbox.rows.keys()];
      const wish: Change = at(
        [{ desiredAction: "wipe" }, { desiredAction: "provision" }, { status: "decommissioning" }, { protected: true }],
        n,
      );
      return netbox.owner(new Map(all.map((one) => [one, wish])));
    }
    case "delete":
      return netbox.delete(id);
    case "vanish":
      for (const one of [...netbox.rows.keys()].slice(0, 4 + (n % 5))) netbox.delete(one);
      return;
    // An account that may not see all any more: the rows are there, and fleetd is not told.
    case "hide":
      return netbox.hide(id);
    case "show":
      return netbox.show();
    case "declare": {
      const machine = sim.machines[device];
      if (machine === undefined || netbox.rows.has(id)) return;
      return netbox.declare(declared(device, machine.board, "worker", machine.bmc !== null));
    }
    case "duplicate": {
      const machine = sim.machines[device];
      const twin = 100 + device;
      if (machine === undefined) return;
      if (netbox.rows.has(twin)) return netbox.delete(twin);
      const row = declared(device, machine.board, "worker", false);
      return netbox.declare({ ...row, id: twin, name: `twin${device}`, interfaces: [] });
    }
    case "save-over": {
      const rows = sim.ledger.rows.get(id) ?? [];
      const old = rows[Math.max(rows.length - 2 - (n % 6), 0)]?.row ?? null;
      if (old !== null) netbox.saveOver(old, { address: old.address });
      return;
    }
    default:
      throw new Error(`no act of an owner: ${name}`);
  }
}
