import { z } from "zod";
import type { NetBoxClient, Query } from "../../../shared/adapters/netbox/client.ts";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import { prefixRow, read } from "../../../shared/adapters/netbox/schema.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import type { OwnerNetBox } from "../owner-netbox.ts";
import type { NodesFile } from "./nodes-file.ts";

const id = z.int();
const withSlug = z.object({ slug: z.string() });
const ip = z.object({ id, address: z.string() }).nullable();
const namedRow = z.object({
  id,
  name: z.string().nullable(),
  role: withSlug,
  site: withSlug,
  device_type: withSlug,
  primary_ip4: ip,
  primary_ip6: ip,
  oob_ip: ip,
});
const portRow = z.object({
  id,
  name: z.string(),
  device: z.object({ id }),
  mgmt_only: z.boolean(),
  cable: z.object({ id }).nullable(),
  link_peers: z.array(
    z.object({ name: z.string().optional(), device: z.object({ name: z.string().nullable() }).optional() }),
  ),
});
const addressRow = z.object({
  id,
  address: z.string(),
  assigned_object_id: id.nullable(),
  assigned_object: z
    .object({ name: z.string().optional(), device: z.object({ id, name: z.string().nullable() }).nullish() })
    .nullish(),
});
const slugRow = z.object({ id, slug: z.string() });
const templateRow = z.object({ id, name: z.string(), mgmt_only: z.boolean(), device_type: withSlug.nullable() });

export type NamedRow = z.output<typeof namedRow>;
export type PortRow = z.output<typeof portRow>;
export type AddressRow = z.output<typeof addressRow>;

export interface Template {
  readonly deviceType: string;
  readonly name: string;
  readonly managementOnly: boolean;
}

/** What a nodes file is compared with. */
export interface InventoryState {
  /** The whole fleet, as fleetd sees it. */
  readonly devices: readonly Device[];
  /** Every device, of any role, that has a name of the file: nodes and switches. */
  readonly named: readonly NamedRow[];
  /** Interfaces of those. */
  readonly ports: readonly PortRow[];
  /** Those of the file that NetBox has, with whatever length, and those that its devices are reached by. */
  readonly addresses: readonly AddressRow[];
  readonly prefixes: readonly z.output<typeof prefixRow>[];
  readonly sites: ReadonlySet<string>;
  readonly deviceTypes: ReadonlySet<string>;
  /** Interfaces that a new device of a type of the file gets. */
  readonly templates: readonly Template[];
}

/** Keeps a request line well below what gunicorn takes. */
const VALUES_PER_REQUEST = 40;

/** Reads it by bulk reads: their number grows with the file by one for forty names. @throws PortError */
export async function readInventory(
  { client, ...netbox }: OwnerNetBox,
  role: string,
  file: NodesFile,
): Promise<InventoryState> {
  const port = createNetBox({ ...netbox, role, timeoutMs: 60_000 });
  await port.checkVersion();
  const entries = [...file.nodes.values()];
  const names = [...file.nodes.keys(), ...entries.flatMap((entry) => entry.switch_port?.device ?? [])];
  const named = await ofValues(client, "/api/dcim/devices/", "name", names, namedRow);
  const hosts = [
    ...entries.flatMap(({ address, bmc_address }) => [address, bmc_address]),
    ...named.flatMap((row) => [row.primary_ip4?.address, row.primary_ip6?.address]),
  ].flatMap((one) => one?.split("/")[0] ?? []);
  const slugs = (path: string, key: "site" | "device_type") => {
    const wanted = entries.map((entry) => entry[key]).filter((one) => one !== undefined);
    return ofValues(client, path, "slug", wanted, slugRow);
  };
  const sites = await slugs("/api/dcim/sites/", "site");
  const deviceTypes = await slugs("/api/dcim/device-types/", "device_type");
  const ofTypes = deviceTypes.map((row) => row.id);
  const templates = await ofValues(client, "/api/dcim/interface-templates/", "device_type_id", ofTypes, templateRow);
  return {
    devices: await port.devices(),
    named,
    ports: await ofValues(
      client,
      "/api/dcim/interfaces/",
      "device_id",
      named.map((row) => row.id),
      portRow,
    ),
    addresses: await ofValues(client, "/api/ipam/ip-addresses/", "address", hosts, addressRow),
    prefixes: await ofValues(client, "/api/ipam/prefixes/", "prefix", [...file.prefixes.keys()], prefixRow),
    sites: new Set(sites.map((row) => row.slug)),
    deviceTypes: new Set(deviceTypes.map((row) => row.slug)),
    templates: templates.map(({ name, mgmt_only: managementOnly, device_type: type }) => {
      return { name, managementOnly, deviceType: type?.slug ?? "" };
    }),
  };
}

async function ofValues<T extends z.ZodObject>(
  client: NetBoxClient,
  path: string,
  filter: string,
  values: readonly (string | number)[],
  row: T,
): Promise<z.output<T>[]> {
  const wanted = [...new Set(values)];
  const found: z.output<T>[] = [];
  for (let at = 0; at < wanted.length; at += VALUES_PER_REQUEST) {
    const query: Query = wanted.slice(at, at + VALUES_PER_REQUEST).map((value) => [filter, value] as const);
    const fields = Object.keys(row.shape).join(",");
    found.push(...(await client.rows(path, [...query, ["fields", fields]], (body) => read(row, body, path))));
  }
  return found;
}
