import { z } from "zod";
import { registry as bmcTypes } from "../../../shared/fleet/bmc/registry.gen.ts";
import { isName, isSerial } from "../../../shared/fleet/conflicts.ts";
import { DISK, DISK_SERIAL } from "../../../shared/fleet/plan/gates.ts";
import { type Address, addressText, canonicalHost, isPointToPoint, parseAddress, placeOf } from "./addresses.ts";

/** Text: a number or a date in YAML is none until it is quoted. */
const text = z.string({
  error: ({ input }) => (input === undefined ? "is missing" : "must be text: put it in quotes"),
});
const slug = text.regex(/^[-a-zA-Z0-9_]{1,100}$/, "is no slug");
const port = text.regex(/^\S(.{0,62}\S)?$/, "is no name of an interface");
const yesNo = z.boolean({ error: "must be true or false" });
const fleetClass = text.regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "is no name of a class");
const bmcType = z.enum(Object.keys(bmcTypes), { error: `must be ${either(Object.keys(bmcTypes))}` });
const disk = text.regex(DISK, "is no kernel name of a disk such as nvme0n1");

/** Of NetBox's many those that a machine's port has; "other" is always true. */
const INTERFACE_TYPES = [
  ...["100base-tx", "1000base-t", "2.5gbase-t", "5gbase-t", "10gbase-t", "25gbase-t"],
  ...["1000base-x-sfp", "10gbase-x-sfpp", "25gbase-x-sfp28", "40gbase-x-qsfpp", "50gbase-x-sfp56", "100gbase-x-qsfp28"],
  "other",
] as const;
const interfaceType = z.enum(INTERFACE_TYPES, { error: `must be ${either(INTERFACE_TYPES)}` });

function either(names: readonly string[]): string {
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

const canonical = text.refine((value) => parseAddress(value) !== null, { error: "is no address", abort: true });
const withLength = canonical.refine((value) => value.includes("/"), {
  error: "needs its prefix length, as 10.20.0.11/24",
  abort: true,
});
/** NetBox takes a network by its own address alone. */
const prefix = withLength.refine(
  (value) => placeOf(addressOf(value)) === "network",
  "has host bits: a prefix begins with its network's own address",
);
/** Of an interface. */
const assignable = <T extends z.ZodType<string>>(schema: T) =>
  schema
    .refine(
      (value) => isPointToPoint(addressOf(value)) || placeOf(addressOf(value)) === "host",
      "is the network's own or its broadcast address: no machine's",
    )
    .transform((value) => addressText(addressOf(value)));
const mac = text
  .transform((value) => value.toLowerCase().replaceAll("-", ":"))
  .pipe(
    z
      .string()
      .regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/, { error: "is no MAC address such as 52:54:00:00:00:01", abort: true })
      .refine((value) => !/^.[13579bdf]|^00(:00){5}$/.test(value), "is no MAC address of a machine"),
  );

function addressOf(value: string): Address {
  return parseAddress(value) ?? { host: value, length: null };
}

/** Keys and values, or what is written there instead. */
function keysAndValues({ code }: { readonly code?: string | undefined }): string | undefined {
  return code === "invalid_type" ? "must be keys with their values" : undefined;
}

const binding = z.strictObject(
  {
    digest: text.regex(/^sha256:[0-9a-f]{64}$/, "is not sha256:<64 hex, lower case>"),
    source: text.refine((value) => value.trim() !== "", "must name the evidence, as SCAN:… or SUPPLIER:…"),
  },
  { error: keysAndValues },
);

/** What many nodes have alike; a node's own word goes before it. */
const shared = {
  site: slug.optional(),
  device_type: slug.optional(),
  status: z
    .enum(["planned", "active", "staged", "inventory"], { error: "must be planned, active, staged or inventory" })
    .optional(),
  fleet_class: fleetClass.optional(),
  interface: port.optional(),
  interface_type: interfaceType.optional(),
  bmc_type: bmcType.optional(),
  bmc_interface: port.optional(),
  install_disk: disk.optional(),
  protected: yesNo.optional(),
  cluster_token_approved: yesNo.optional(),
};

const node = z.strictObject(
  {
    ...shared,
    serial: text
      .refine(
        (value) => isSerial(value) && value.trim() === value,
        "is no serial of a machine: [A-Za-z0-9._-]{1,64} and no vendor's placeholder",
      )
      .max(50, "is longer than the 50 characters that NetBox keeps")
      .optional(),
    mac: mac.optional(),
    switch_port: z
      .strictObject({ device: text.min(1, "is empty"), interface: port }, { error: keysAndValues })
      .optional(),
    address: assignable(withLength).optional(),
    bmc_address: assignable(canonical).optional(),
    install_disk_serial: text.regex(DISK_SERIAL, "is not [A-Za-z0-9._-]{1,64}").optional(),
    approved_eks: z
      .array(binding, { error: "must be a list of digest and source" })
      .min(1, "is empty: leave it out to approve nothing new")
      .max(16, "has more than 16 keys")
      .refine((all) => new Set(all.map((one) => one.digest)).size === all.length, "names a key twice")
      .optional(),
  },
  { error: keysAndValues },
);

const gateway = text
  .refine((value) => canonicalHost(value) !== null, { error: "is no address", abort: true })
  .transform((value) => canonicalHost(value) ?? value);
const name = z.string().refine(isName, "is no DNS label of at most 40 characters");

/** One nodes file. @see infra/docs/inventory.md */
export const nodesFile = z.strictObject(
  {
    defaults: z.strictObject(shared, { error: keysAndValues }).optional(),
    prefixes: z
      .record(prefix, z.strictObject({ gateway: gateway.optional() }, { error: keysAndValues }).nullable(), {
        error: keysAndValues,
      })
      .optional(),
    nodes: z.record(name, node.nullable(), { error: keysAndValues }).optional(),
  },
  { error: keysAndValues },
);

export type NodeEntry = z.output<typeof node>;
