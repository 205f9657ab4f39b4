import { z } from "zod";
import type { Moved, Since } from "../../ports/netbox.ts";
import type { Query } from "./client.ts";
import type { Reader } from "./devices.ts";
import { read } from "./schema.ts";

const withDevice = z.object({ device: z.object({ id: z.int() }).nullish() });
const id = z.int();
const row = z.object({ id, role: z.object({ slug: z.string() }), last_updated: z.string().min(1) });
const port = z.object({ id, ...withDevice.shape });
const assigned = z.object({ id, assigned_object: withDevice.nullish() });
const ends = z.array(z.object({ object: withDevice.nullish() }));
const cable = z.object({ id, a_terminations: ends, b_terminations: ends });

/**
 * Devices of which something moved at or after a moment, by five lists however large the fleet is: rows, interfaces,
 * MACs and addresses carry a `last_updated` of their own, and so does a cable. Each list is asked for by that filter
 * alone, since a filter that this NetBox does not know is ignored and gives everything: more work, nothing missed.
 */
export async function readMoved({ client, role }: Reader, since: Since): Promise<Moved> {
  const list = (path: string, fields: string, query: Query = [], moment = since.parts) =>
    client.list(path, [...query, ["last_updated__gte", moment], ["fields", fields]]);
  const ids = new Set<number>();
  const add = (device: { readonly id: number } | null | undefined) => {
    if (device != null) ids.add(device.id);
  };
  const rows = (await list("/api/dcim/devices/", "id,role,last_updated", [["role", role]], since.rows))
    .map((body) => read(row, body, "devices"))
    .filter((found) => found.role.slug === role);
  for (const body of await list("/api/dcim/interfaces/", "id,device", [["device_role", role]]))
    add(read(port, body, "interfaces").device);
  for (const path of ["/api/dcim/mac-addresses/", "/api/ipam/ip-addresses/"])
    for (const body of await list(path, "id,assigned_object")) add(read(assigned, body, path).assigned_object?.device);
  for (const body of await list("/api/dcim/cables/", "id,a_terminations,b_terminations")) {
    const { a_terminations, b_terminations } = read(cable, body, "cables");
    for (const end of [...a_terminations, ...b_terminations]) add(end.object?.device);
  }
  return { rows: rows.map(({ id, last_updated }) => ({ id, lastUpdated: last_updated })), parts: [...ids] };
}
