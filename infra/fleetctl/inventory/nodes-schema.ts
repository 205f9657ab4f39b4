import { isIP } from "node:net";
import { z } from "zod";
import { isName, isSerial } from "../../../shared/fleet/conflicts.ts";
import { DISK, DISK_SERIAL } from "../../../shared/fleet/plan/gates.ts";

/** Text: a number or a date in YAML is none until it is quoted. */
const text = z.string({
  error: ({ input }) => (input === undefined ? "is missing" : "must be text: put it in quotes"),
});
const slug = text.regex(/^[-a-zA-Z0-9_]{1,100}$/, "is no slug");
const port = text.regex(/^\S(.{0,62}\S)?$/, "is no name of an interface");
const yesNo = z.boolean({ error: "must be true or false" });
const fleetClass = text.regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "is no name of a class");
const bmcType = text.regex(/^[a-z0-9-]{1,40}$/, "is no BMC type such as redfish");
const disk = text.regex(DISK, "is no kernel name of a disk such as nvme0n1");

const host = text.refine((value) => isIP(value.split("/")[0] ?? "") !== 0 && isLength(value), "is no address");
const withLength = host
  .refine((value) => value.includes("/"), "needs its prefix length, as 10.20.0.11/24")
  .transform(lower);
const mac = text
  .transform((value) => value.toLowerCase().replaceAll("-", ":"))
  .pipe(z.string().regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/, "is no MAC address such as 52:54:00:00:00:01"));

/** NetBox takes a network by its own address alone. IPv6 is left to NetBox. */
function isNetwork(value: string): boolean {
  const [address = "", length] = value.split("/");
  if (isIP(address) !== 4) return true;
  const bits = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return bits % 2 ** (32 - Number(length)) === 0;
}

function isLength(value: string): boolean {
  const [address = "", length] = value.split("/");
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (isIP(address) === 6 ? 128 : 32));
}

function lower(value: string): string {
  return value.toLowerCase();
}

const binding = z.strictObject({
  digest: text.regex(/^sha256:[0-9a-f]{64}$/, "is not sha256:<64 hex, lower case>"),
  source: text.refine((value) => value.trim() !== "", "must name the evidence, as SCAN:… or SUPPLIER:…"),
});

/** What many nodes have alike; a node's own word goes before it. */
const shared = {
  site: slug.optional(),
  device_type: slug.optional(),
  status: z
    .enum(["planned", "active", "staged", "inventory"], { error: "must be planned, active, staged or inventory" })
    .optional(),
  fleet_class: fleetClass.optional(),
  interface: port.optional(),
  interface_type: text.optional(),
  bmc_type: bmcType.optional(),
  bmc_interface: port.optional(),
  install_disk: disk.optional(),
  protected: yesNo.optional(),
  cluster_token_approved: yesNo.optional(),
};

const node = z.strictObject({
  ...shared,
  serial: text
    .refine(isSerial, "is no serial of a machine: [A-Za-z0-9._-]{1,64} and no vendor's placeholder")
    .optional(),
  mac: mac.optional(),
  switch_port: z.strictObject({ device: text.min(1, "is empty"), interface: port }).optional(),
  address: withLength.optional(),
  bmc_address: host.transform(lower).optional(),
  install_disk_serial: text.regex(DISK_SERIAL, "is not [A-Za-z0-9._-]{1,64}").optional(),
  approved_eks: z
    .array(binding, { error: "must be a list of digest and source" })
    .min(1, "is empty: leave it out to approve nothing new")
    .max(16, "has more than 16 keys")
    .refine((all) => new Set(all.map((one) => one.digest)).size === all.length, "names a key twice")
    .optional(),
});

const name = z.string().refine(isName, "is no DNS label of at most 40 characters");

/** One nodes file. @see infra/docs/inventory.md */
export const nodesFile = z.strictObject({
  defaults: z.strictObject(shared).optional(),
  prefixes: z
    .record(
      withLength.refine(isNetwork, "has host bits: a prefix begins with its network's own address"),
      z.strictObject({ gateway: text.refine((value) => isIP(value) !== 0, "is no address").optional() }).nullable(),
    )
    .optional(),
  nodes: z.record(name, node.nullable()).optional(),
});

export type NodeEntry = z.output<typeof node>;
