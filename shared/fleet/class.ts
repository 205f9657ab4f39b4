import { z } from "zod";

const digest = /^sha256:[0-9a-f]{64}$/;
const imageByDigest = z
  .string()
  .regex(/^[a-z0-9./:_-]+@sha256:[0-9a-f]{64}$/i, "an image named by digest: name[:tag]@sha256:<64 hex>");

const talosSchema = z.strictObject({
  version: z.string().regex(/^v?1\.\d{1,2}(\.\d{1,3})?$/, "such as v1.13.9"),
  endpoint: z.url({ protocol: /^https$/ }),
  patch: z.record(z.string(), z.unknown()).optional(),
});

const networkSchema = z.strictObject({
  gateway: z.union([z.ipv4(), z.ipv6()]),
  nameservers: z.array(z.union([z.ipv4(), z.ipv6()])).max(3),
});

/** One class of FLEET_CLASSES (spec/00, "Classes"). */
export const classSchema = z.strictObject({
  os: z.enum(["talos", "nixos", "debian", "alpine"]),
  workload: z.enum(["worker", "controlplane", "none"]),
  template: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  profile: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
    .nullable()
    .default(null),
  secureBoot: z.enum(["required", "off"]),
  payload: z.enum(["talos", "nixos-image", "alpine-image", "cloud-init-nocloud", "none"]),
  reattest: z.enum(["renew", "netboot", "none"]),
  attestation: z.enum(["supported", "unsupported"]),
  installer: imageByDigest.optional(),
  image: z.url({ protocol: /^https?$/ }).optional(),
  image_digest: z
    .string()
    .regex(/^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/)
    .optional(),
  image_format: z.enum(["raw", "raw.zst", "raw.xz", "qcow2"]).optional(),
  talos: talosSchema.optional(),
  network: networkSchema.optional(),
});

export type FleetClass = z.output<typeof classSchema>;

export const classTableSchema = z.record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/), classSchema);
export type ClassTable = z.output<typeof classTableSchema>;

/** FLEET_CLASS_INPUTS: a build's Talos tag for classes without a pin of their own; it counts only with its digest. */
export const classInputsSchema = z.looseObject({
  talos: z.looseObject({ image: z.string(), tag: z.string(), digest: z.string().optional() }).optional(),
});
export type ClassInputs = z.output<typeof classInputsSchema>;

/** What an install writes, resolved when a run starts and frozen with it. */
export type Pin =
  | { readonly kind: "installer"; readonly installer: string }
  | { readonly kind: "image"; readonly image: string; readonly digest: string; readonly format: string };

/**
 * The class's complete pin, or null (`pin-incomplete`). A class's own pin is preferred; a build's tag counts only with
 * its digest.
 * @see spec/00-overview.md "Classes"
 */
export function resolvePin(cls: FleetClass, inputs: ClassInputs | null): Pin | null {
  if (cls.os === "talos") {
    if (cls.installer !== undefined) return { kind: "installer", installer: cls.installer };
    const built = inputs?.talos;
    if (built?.digest === undefined || !digest.test(built.digest)) return null;
    return { kind: "installer", installer: `${built.image}:${built.tag}@${built.digest}` };
  }
  if (cls.image === undefined || cls.image_digest === undefined || cls.image_format === undefined) return null;
  return { kind: "image", image: cls.image, digest: cls.image_digest, format: cls.image_format };
}

/** A class as a run froze it: the name, its contents and its pin at the start. */
export interface FrozenClass {
  readonly name: string;
  readonly class: FleetClass;
  readonly pin: Pin | null;
}

/** What NetBox's `fleet_class` means now. */
export function freezeClass(name: string | null, table: ClassTable, inputs: ClassInputs | null): FrozenClass | null {
  if (name === null) return null;
  const cls = Object.hasOwn(table, name) ? table[name] : undefined;
  return cls === undefined ? null : { name, class: cls, pin: resolvePin(cls, inputs) };
}
