import { boundsOf, hostOf } from "./addresses.ts";
import { choices } from "./choices.ts";
import { extras } from "./models-extras.ts";
import { users } from "./models-users.ts";
import {
  address,
  anything,
  bool,
  type Model,
  macAddress,
  network,
  oneOf,
  relation,
  termination,
  text,
} from "./rules.ts";
import type { TableName, World } from "./world.ts";

const nulls = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, null]));
const zeros = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, 0]));
const described = { description: text(200), comments: text(1_000_000), tags: anything };
const named = { name: text(100, true), slug: text(100, true), ...described };

const assignedTo = (world: World, id: unknown, deviceId: unknown) =>
  world.tables.interfaces.get(Number(world.tables["ip-addresses"].get(Number(id))?.assigned_object_id))?.device ===
  deviceId;

/** What NetBox refuses as an interface's. */
function unassignable(address: string, assigned: boolean): Record<string, unknown> | null {
  const [host, length = ""] = address.split("/");
  if (length === "0") return { address: ["Cannot create IP address with /0 mask."] };
  const { first, last } = boundsOf(address);
  const [six, room] = [address.includes(":"), !["31", "32", "127", "128"].includes(length)];
  if (!assigned || !room) return null;
  const words = (what: string) => ({ __all__: [`${host} is a ${what}, which may not be assigned to an interface.`] });
  return host === first ? words("network ID") : host === last && !six ? words("broadcast address") : null;
}

/** The objects that can be written, by table. */
export const models: Partial<Record<TableName, Model>> = {
  manufacturers: {
    table: "manufacturers",
    type: "dcim.manufacturer",
    verbose: "Manufacturer",
    rules: named,
    required: ["name", "slug"],
    defaults: { description: "" },
  },
  sites: {
    table: "sites",
    type: "dcim.site",
    verbose: "Site",
    rules: { ...named, status: oneOf(choices.siteStatus) },
    required: ["name", "slug"],
    defaults: { status: "active", description: "" },
  },
  "device-roles": {
    table: "device-roles",
    type: "dcim.devicerole",
    verbose: "DeviceRole",
    rules: { ...named, color: text(6) },
    required: ["name", "slug"],
    defaults: { color: "9e9e9e", description: "" },
  },
  "device-types": {
    table: "device-types",
    type: "dcim.devicetype",
    verbose: "DeviceType",
    rules: {
      manufacturer: relation("manufacturers", false),
      model: text(100, true),
      slug: text(100, true),
      u_height: anything,
    },
    required: ["manufacturer", "model", "slug"],
    defaults: { u_height: 1, description: "" },
  },
  "interface-templates": {
    table: "interface-templates",
    type: "dcim.interfacetemplate",
    verbose: "InterfaceTemplate",
    rules: {
      device_type: relation("device-types", false),
      name: text(64, true),
      label: text(64),
      type: oneOf(choices.interfaceType),
      mgmt_only: bool,
    },
    required: ["device_type", "name", "type"],
    defaults: { label: "", mgmt_only: false, enabled: true, description: "" },
  },
  devices: {
    table: "devices",
    type: "dcim.device",
    verbose: "Device",
    rules: {
      ...described,
      name: text(64),
      serial: text(50),
      asset_tag: text(50),
      status: oneOf(choices.deviceStatus),
      device_type: relation("device-types", false),
      role: relation("device-roles", false),
      site: relation("sites", false),
      primary_ip4: relation("ip-addresses"),
      primary_ip6: relation("ip-addresses"),
      oob_ip: relation("ip-addresses"),
    },
    required: ["device_type", "role", "site"],
    defaults: {
      ...nulls(
        "name owner local_context_data config_template tenant platform asset_tag location rack position airflow cooling_method primary_ip4 primary_ip6 oob_ip cluster virtual_chassis vc_position vc_priority latitude longitude",
      ),
      ...zeros(
        "console_port_count console_server_port_count power_port_count power_outlet_count cooling_intake_count cooling_outflow_count interface_count front_port_count rear_port_count device_bay_count module_bay_count inventory_item_count",
      ),
      description: "",
      comments: "",
      serial: "",
      face: "",
      status: "active",
      tags: [],
      custom_fields: {},
    },
    check(world, row) {
      for (const field of ["primary_ip4", "primary_ip6", "oob_ip"]) {
        const ip = row[field];
        if (ip !== null && !assignedTo(world, ip, row.id)) {
          const shown = world.tables["ip-addresses"].get(Number(ip))?.address;
          return { [field]: [`The specified IP address (${shown}) is not assigned to this device.`] };
        }
      }
      const twin = [...world.tables.devices.values()].find(
        (each) => each.id !== row.id && each.name === row.name && each.name !== null && each.site === row.site,
      );
      return twin === undefined ? null : { __all__: ["Device name must be unique per site and tenant."] };
    },
  },
  interfaces: {
    table: "interfaces",
    type: "dcim.interface",
    verbose: "Interface",
    rules: {
      ...described,
      device: relation("devices", false),
      name: text(64, true),
      label: text(64),
      type: oneOf(choices.interfaceType),
      enabled: bool,
      mgmt_only: bool,
      primary_mac_address: relation("mac-addresses"),
    },
    required: ["device", "name", "type"],
    defaults: {
      ...nulls(
        "module channels channel_id parent bridge lag mtu primary_mac_address speed duplex wwn mode rf_role rf_channel poe_mode poe_type rf_channel_frequency rf_channel_width tx_power untagged_vlan qinq_svlan vlan_translation_policy cable wireless_link vrf l2vpn_termination owner",
      ),
      vdcs: [],
      label: "",
      enabled: true,
      bridge_interfaces: [],
      mgmt_only: false,
      description: "",
      tagged_vlans: [],
      mark_connected: false,
      wireless_lans: [],
      tags: [],
    },
    check(world, row) {
      const mac = world.tables["mac-addresses"].get(Number(row.primary_mac_address));
      if (mac === undefined || mac.assigned_object_id === row.id) return null;
      const holder = world.tables.interfaces.get(Number(mac.assigned_object_id));
      return { __all__: [`MAC address ${mac.mac_address} is assigned to a different interface (${holder?.name}).`] };
    },
  },
  cables: {
    table: "cables",
    type: "dcim.cable",
    verbose: "Cable",
    rules: {
      ...described,
      a_terminations: termination,
      b_terminations: termination,
      status: oneOf(choices.cableStatus),
      type: oneOf(choices.cableType),
      label: text(100),
    },
    required: ["a_terminations", "b_terminations"],
    renamed: { a_terminations: "a", b_terminations: "b" },
    defaults: {
      ...nulls("type profile tenant bundle length length_unit owner"),
      status: "connected",
      label: "",
      color: "",
      description: "",
      comments: "",
      tags: [],
    },
  },
  "mac-addresses": {
    table: "mac-addresses",
    type: "dcim.macaddress",
    verbose: "MACAddress",
    rules: {
      ...described,
      mac_address: macAddress,
      assigned_object_type: anything,
      assigned_object_id: relation("interfaces"),
    },
    required: ["mac_address"],
    defaults: {
      assigned_object_type: null,
      assigned_object_id: null,
      description: "",
      owner: null,
      comments: "",
      tags: [],
    },
    check(world, row) {
      const holder = [...world.tables.interfaces.values()].find((each) => each.primary_mac_address === row.id);
      return holder === undefined || holder.id === row.assigned_object_id
        ? null
        : { __all__: ["Cannot reassign MAC Address while it is designated as the primary MAC for an object"] };
    },
  },
  "ip-addresses": {
    table: "ip-addresses",
    type: "ipam.ipaddress",
    verbose: "IPAddress",
    rules: {
      ...described,
      address,
      status: oneOf(choices.addressStatus),
      dns_name: text(255),
      assigned_object_type: anything,
      assigned_object_id: relation("interfaces"),
    },
    required: ["address"],
    defaults: {
      ...nulls("vrf tenant role assigned_object_type assigned_object_id nat_inside owner"),
      status: "active",
      dns_name: "",
      description: "",
      comments: "",
      tags: [],
    },
    check(world, row) {
      const twin = [...world.tables["ip-addresses"].values()].find(
        (each) => each.id !== row.id && hostOf(String(each.address)) === hostOf(String(row.address)),
      );
      const fault = unassignable(String(row.address), row.assigned_object_id !== null);
      if (fault !== null) return fault;
      return twin === undefined ? null : { address: [`Duplicate IP address found in global table: ${twin.address}`] };
    },
  },
  prefixes: {
    table: "prefixes",
    type: "ipam.prefix",
    verbose: "Prefix",
    rules: { ...described, prefix: network, status: oneOf(choices.addressStatus) },
    required: ["prefix"],
    defaults: {
      ...nulls("vrf scope_type scope_id scope tenant vlan role owner"),
      status: "active",
      is_pool: false,
      mark_utilized: false,
      description: "",
      comments: "",
      tags: [],
      custom_fields: {},
    },
    check(world, row) {
      const twin = [...world.tables.prefixes.values()].find((each) => each.id !== row.id && each.prefix === row.prefix);
      return twin === undefined ? null : { prefix: [`Duplicate prefix found in global table: ${twin.prefix}`] };
    },
  },
  "journal-entries": {
    table: "journal-entries",
    type: "extras.journalentry",
    verbose: "JournalEntry",
    rules: {
      assigned_object_type: anything,
      assigned_object_id: anything,
      kind: oneOf(choices.journalKind),
      comments: text(1_000_000, true),
      tags: anything,
    },
    required: ["assigned_object_type", "assigned_object_id", "comments"],
    defaults: { created_by: 1, kind: "info", tags: [] },
    check: (world, row) =>
      row.assigned_object_type === "dcim.device" && world.tables.devices.has(Number(row.assigned_object_id))
        ? null
        : { __all__: [`Invalid assigned_object: DCIM > Device ID ${row.assigned_object_id}`] },
  },
  ...extras,
  ...users,
};
