import { PortError } from "../../ports/error.ts";
import type { NetBoxClient } from "./client.ts";
import { etag } from "./patch.ts";
import { INTERFACE_FIELDS, type InterfaceRow, interfaceRow, read } from "./schema.ts";

/**
 * Finds or makes the MAC object on the interface, makes it primary, and sees it there. Each step may be repeated: an
 * interface's own `mac_address` is accepted and dropped by NetBox. @see bugs/netbox.md 4
 */
export async function recordMac(
  client: NetBoxClient,
  deviceId: number,
  interfaceId: number,
  mac: string,
): Promise<void> {
  const text = mac.toLowerCase();
  let row = await readInterface(client, deviceId, interfaceId);
  if (row.primary_mac_address?.mac_address.toLowerCase() === text) return;
  if (macId(row, text) === null) {
    await client.send("POST", "/api/dcim/mac-addresses/", {
      mac_address: text,
      assigned_object_type: "dcim.interface",
      assigned_object_id: interfaceId,
    });
    row = await readInterface(client, deviceId, interfaceId);
  }
  const id = macId(row, text);
  if (id === null) throw new PortError("unavailable", "netbox", `interface ${interfaceId}: the MAC did not stay`);
  await client.send(
    "PATCH",
    `/api/dcim/interfaces/${interfaceId}/`,
    { primary_mac_address: id },
    etag(row.last_updated),
  );
  const after = await readInterface(client, deviceId, interfaceId);
  if (after.primary_mac_address?.mac_address.toLowerCase() !== text) {
    throw new PortError("unavailable", "netbox", `interface ${interfaceId}: the primary MAC did not stay`);
  }
}

async function readInterface(client: NetBoxClient, deviceId: number, interfaceId: number): Promise<InterfaceRow> {
  const body = await client.get(`/api/dcim/interfaces/${interfaceId}/`, [["fields", INTERFACE_FIELDS]]);
  const row = read(interfaceRow, body, `interface ${interfaceId}`);
  if (row.device.id === deviceId) return row;
  throw new PortError("rejected", "netbox", `interface ${interfaceId} is not of device ${deviceId}`);
}

function macId(row: InterfaceRow, text: string): number | null {
  const ids = row.mac_addresses.filter((each) => each.mac_address.toLowerCase() === text).map((each) => each.id);
  return ids.length === 0 ? null : Math.min(...ids);
}
