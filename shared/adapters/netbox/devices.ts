import type { CablePeer, Device, DeviceInterface } from "../../fleet/device.ts";
import { PortError } from "../../ports/error.ts";
import type { IdRange } from "../../ports/netbox.ts";
import { type NetBoxClient, NetBoxError, type Query } from "./client.ts";
import type { FieldNames } from "./field-names.ts";
import {
  DEVICE_FIELDS,
  type DeviceRow,
  deviceRow,
  INTERFACE_FIELDS,
  type InterfaceRow,
  interfaceRow,
  read,
  textField,
} from "./schema.ts";

export interface Reader {
  readonly client: NetBoxClient;
  readonly role: string;
  readonly names: FieldNames;
  /** Told of each listed device of another role: a sign of a filter that NetBox did not know. */
  readonly onForeignRow: (id: number) => void;
}

const ALL: IdRange = { from: 0, to: Number.POSITIVE_INFINITY };

/** Ids in one URL: `device_id=` and 8 digits each stay well below gunicorn's 4,094 bytes of request line. */
const IDS_PER_REQUEST = 150;

/** Above this a list of all interfaces of the role costs fewer requests than those of each device. */
const FEW_DEVICES = 1500;

/** Devices of the role with interfaces, MACs and far ends of cables, by bulk reads; two to four requests for a small fleet. */
export async function readDevices(reader: Reader, which?: readonly number[] | IdRange): Promise<Device[]> {
  const rows = await readRows(reader, which);
  const all = which === undefined || rows.length > FEW_DEVICES;
  const interfaces = all
    ? await readInterfaces(reader.client, [["device_role", reader.role]])
    : await interfacesOf(
        reader.client,
        rows.map((row) => row.id),
      );
  return assemble(reader, rows, interfaces);
}

/** One device of the role read afresh, or null. */
export async function readDevice(reader: Reader, id: number): Promise<Device | null> {
  const row = await readRow(reader, id);
  return row === null ? null : complete(reader, row);
}

/** The device's own row; null on 404 and for a device of another role. */
export async function readRow(reader: Reader, id: number): Promise<DeviceRow | null> {
  try {
    const body = await reader.client.get(`/api/dcim/devices/${id}/`, [["fields", DEVICE_FIELDS]]);
    const row = read(deviceRow, body, `device ${id}`);
    if (row.id !== id) throw new PortError("unavailable", "netbox", `device ${id}: another object was answered`);
    return row.role.slug === reader.role ? row : null;
  } catch (error) {
    if (error instanceof NetBoxError && error.kind === "not-found") return null;
    throw error;
  }
}

/** A row with its interfaces. @throws PortError unavailable where the device went away in between */
export async function complete(reader: Reader, row: DeviceRow): Promise<Device> {
  const [device] = await assemble(reader, [row], await interfacesOf(reader.client, [row.id]));
  if (device === undefined) throw new PortError("unavailable", "netbox", `device ${row.id}: went away while read`);
  return device;
}

async function readRows(reader: Reader, which: readonly number[] | IdRange = ALL): Promise<DeviceRow[]> {
  const query: Query = [
    ["role", reader.role],
    ["fields", DEVICE_FIELDS],
  ];
  const view = (wanted: ReadonlySet<number> | null) => (body: unknown) => {
    const row = read(deviceRow, body, "devices");
    const isOfRole = row.role.slug === reader.role;
    if (!isOfRole) reader.onForeignRow(row.id);
    return isOfRole && (wanted === null || wanted.has(row.id)) ? row : null;
  };
  if ("from" in which) return reader.client.rows("/api/dcim/devices/", query, view(null), which);
  const rows: DeviceRow[] = [];
  for (const chunk of chunks([...new Set(which)])) {
    const named = chunk.map((id) => ["id", id] as const);
    const found = await reader.client.rows("/api/dcim/devices/", [...query, ...named], view(new Set(chunk)));
    rows.push(...found);
  }
  return rows;
}

async function readInterfaces(client: NetBoxClient, query: Query): Promise<InterfaceRow[]> {
  const fields: Query = [...query, ["fields", INTERFACE_FIELDS]];
  return client.rows("/api/dcim/interfaces/", fields, (row) => read(interfaceRow, row, "interfaces"));
}

async function interfacesOf(client: NetBoxClient, deviceIds: readonly number[]): Promise<InterfaceRow[]> {
  const found: InterfaceRow[] = [];
  for (const chunk of chunks(deviceIds)) {
    try {
      found.push(
        ...(await readInterfaces(
          client,
          chunk.map((id) => ["device_id", id]),
        )),
      );
    } catch (error) {
      // `device_id` of a device that is gone is a bad choice: the list moved while it was read.
      if (!(error instanceof NetBoxError && error.status === 400)) throw error;
      throw new PortError("unavailable", "netbox", "devices went away while they were read");
    }
  }
  return found;
}

async function assemble(
  reader: Reader,
  rows: readonly DeviceRow[],
  interfaces: readonly InterfaceRow[],
): Promise<Device[]> {
  const own = new Set(rows.map((row) => row.id));
  const byDevice = new Map(rows.map((row) => [row.id, new Map<number, InterfaceRow>()]));
  for (const row of interfaces) byDevice.get(row.device.id)?.set(row.id, row);
  const peerIds = new Set<number>();
  for (const row of interfaces) {
    const far = farEnd(row);
    if (far !== null && own.has(row.device.id)) peerIds.add(far.deviceId);
  }
  const peers = await interfacesOf(reader.client, [...peerIds]);
  const peerDevices = new Map<number, InterfaceRow[]>();
  for (const row of peers) peerDevices.set(row.device.id, [...(peerDevices.get(row.device.id) ?? []), row]);
  return rows.map((row) =>
    device(
      row,
      reader.names,
      [...(byDevice.get(row.id)?.values() ?? [])]
        .sort((a, b) => a.id - b.id)
        .map((each) => deviceInterface(each, peerDevices)),
    ),
  );
}

function farEnd(row: InterfaceRow): { id: number; deviceId: number } | null {
  const ends = row.connected_endpoints ?? [];
  const end = ends[0];
  if (row.connected_endpoints_type !== "dcim.interface" || ends.length !== 1 || end?.device === undefined) return null;
  return { id: end.id, deviceId: end.device.id };
}

function deviceInterface(
  row: InterfaceRow,
  peerDevices: ReadonlyMap<number, readonly InterfaceRow[]>,
): DeviceInterface {
  return {
    id: row.id,
    name: row.name,
    managementOnly: row.mgmt_only,
    primaryMac: row.primary_mac_address?.mac_address.toLowerCase() ?? null,
    macs: macsOf([row]),
    peer: peerOf(row, peerDevices),
  };
}

function peerOf(row: InterfaceRow, peerDevices: ReadonlyMap<number, readonly InterfaceRow[]>): CablePeer | null {
  const far = farEnd(row);
  const ports = far === null ? [] : (peerDevices.get(far.deviceId) ?? []);
  const port = ports.find((each) => each.id === far?.id);
  if (port === undefined) return null;
  return {
    deviceName: port.device.name ?? "",
    interfaceName: port.name,
    interfaceLabel: port.label === "" ? null : port.label,
    interfaceMac: port.primary_mac_address?.mac_address.toLowerCase() ?? null,
    deviceMacs: macsOf(ports),
  };
}

function macsOf(rows: readonly InterfaceRow[]): string[] {
  return [...new Set(rows.flatMap((row) => row.mac_addresses.map((mac) => mac.mac_address.toLowerCase())))];
}

function device(row: DeviceRow, names: FieldNames, interfaces: readonly DeviceInterface[]): Device {
  const fields = row.custom_fields;
  const text = (name: string) => textField(fields, name);
  return {
    id: row.id,
    name: row.name ?? "",
    serial: row.serial,
    status: row.status ?? "",
    lastUpdated: row.last_updated,
    fleetClass: text(names.fleetClass),
    desiredAction: text(names.desiredAction),
    installDisk: text(names.installDisk),
    installDiskSerial: text(names.installDiskSerial),
    bmcType: text(names.bmcType),
    oobAddress: row.oob_ip?.address.split("/")[0] ?? null,
    approvedEks: fields[names.approvedEks] ?? null,
    protected: fields[names.protected] === true,
    clusterTokenApproved: fields[names.clusterTokenApproved] === true,
    address: row.primary_ip4?.address ?? row.primary_ip6?.address ?? null,
    interfaces,
    shown: {
      attestationVerdict: text(names.attestationVerdict),
      attestedAt: text(names.attestedAt),
      dbxHash: text(names.dbxHash),
      sbatLevel: text(names.sbatLevel),
      fleetRun: fields[names.fleetRun] ?? null,
      fleetIdentity: fields[names.fleetIdentity] ?? null,
    },
  };
}

function* chunks(ids: readonly number[]): Generator<readonly number[]> {
  for (let at = 0; at < ids.length; at += IDS_PER_REQUEST) yield ids.slice(at, at + IDS_PER_REQUEST);
}
