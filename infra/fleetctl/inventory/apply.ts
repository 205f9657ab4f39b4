import { z } from "zod";
import type { NetBoxClient } from "../../../shared/adapters/netbox/client.ts";
import { recordMac } from "../../../shared/adapters/netbox/macs.ts";
import { etag } from "../../../shared/adapters/netbox/patch.ts";
import { read } from "../../../shared/adapters/netbox/schema.ts";
import { hostOf } from "./plan-addresses.ts";
import type { InventoryState } from "./state.ts";
import type { InventoryStep } from "./step.ts";

const made = z.object({ id: z.int() });
const madePort = z.object({ id: z.int(), name: z.string(), device: made });

/** Ids of what there is and of what the steps before have made. */
interface Known {
  readonly devices: Map<string, number>;
  /** By device id and name. */
  readonly ports: Map<string, number>;
  /** By host. */
  readonly addresses: Map<string, number>;
}

/** Carries the steps out in their order and stops at the first that fails. @throws PortError; what is done stays done */
export async function applyInventory(
  client: NetBoxClient,
  steps: readonly InventoryStep[],
  state: InventoryState,
  done: (step: InventoryStep) => void,
): Promise<void> {
  const known: Known = {
    devices: new Map(state.named.map((row) => [row.name ?? "", row.id])),
    ports: new Map(state.ports.map((row) => [`${row.device.id} ${row.name}`, row.id])),
    addresses: new Map(state.addresses.map((row) => [hostOf(row.address), row.id])),
  };
  for (const step of steps) {
    await carryOut(client, step, known);
    done(step);
  }
}

async function carryOut(client: NetBoxClient, step: InventoryStep, known: Known): Promise<void> {
  const make = async (path: string, body: object) => read(made, await client.send("POST", path, body), path).id;
  switch (step.do) {
    case "create-prefix": {
      const { prefix, gateway } = step;
      await make("/api/ipam/prefixes/", { prefix, ...(gateway !== null && { custom_fields: { gateway } }) });
      return;
    }
    case "set-gateway":
      await client.send("PATCH", `/api/ipam/prefixes/${step.id}/`, { custom_fields: { gateway: step.gateway } });
      return;
    case "create-device": {
      const id = await make("/api/dcim/devices/", step.body);
      known.devices.set(step.node, id);
      // A device type may bring interfaces of its own.
      const rows = await client.rows(
        "/api/dcim/interfaces/",
        [
          ["device_id", id],
          ["fields", "id,name,device"],
        ],
        (row) => read(madePort, row, "interfaces"),
      );
      for (const row of rows) if (row.device.id === id) known.ports.set(`${id} ${row.name}`, row.id);
      return;
    }
    case "create-interface": {
      const { node, name, type, management } = step;
      const device = deviceOf(known, node);
      const id = known.ports.get(`${device} ${name}`);
      if (id !== undefined) await client.send("PATCH", `/api/dcim/interfaces/${id}/`, { mgmt_only: management });
      else {
        const body = { device, name, type, mgmt_only: management };
        known.ports.set(`${device} ${name}`, await make("/api/dcim/interfaces/", body));
      }
      return;
    }
    case "mark-management":
      await client.send("PATCH", `/api/dcim/interfaces/${portOf(known, step)}/`, { mgmt_only: true });
      return;
    case "set-mac":
      return recordMac(client, deviceOf(known, step.node), portOf(known, step), step.mac);
    case "create-address": {
      const body = { address: step.address, ...assigned(portOf(known, step)) };
      known.addresses.set(hostOf(step.address), await make("/api/ipam/ip-addresses/", body));
      return;
    }
    case "assign-address":
      await client.send("PATCH", `/api/ipam/ip-addresses/${step.id}/`, assigned(portOf(known, step)));
      return;
    case "connect": {
      const end = (id: number) => [{ object_type: "dcim.interface", object_id: id }];
      const ends = { a_terminations: end(portOf(known, step)), b_terminations: end(step.portId) };
      await make("/api/dcim/cables/", { ...ends, status: "connected" });
      return;
    }
    case "change-device": {
      const addresses = Object.entries(step.addresses).map(([key, host]) => [key, known.addresses.get(host)] as const);
      const body = { ...step.body, ...Object.fromEntries(addresses) };
      const ifMatch = step.lastUpdated === null ? undefined : etag(step.lastUpdated);
      await client.send("PATCH", `/api/dcim/devices/${deviceOf(known, step.node)}/`, body, ifMatch);
    }
  }
}

function assigned(id: number): object {
  return { assigned_object_type: "dcim.interface", assigned_object_id: id };
}

function deviceOf({ devices }: Known, node: string): number {
  return there(devices.get(node), node);
}

function portOf(known: Known, { node, name }: { readonly node: string; readonly name: string }): number {
  return there(known.ports.get(`${deviceOf(known, node)} ${name}`), `${node} ${name}`);
}

function there(id: number | undefined, what: string): number {
  if (id === undefined) throw new Error(`${what} is not there yet`);
  return id;
}
