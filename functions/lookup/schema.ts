import { z } from "zod";
import { conditionShape } from "../../shared/runtime/wire-schema.ts";

const time = z.iso.datetime();
const certificate = z.object({ serialNumber: z.string(), spkiSha256: z.string(), notAfterMs: z.int() });
const conditions = z.array(conditionShape);
const timeline = z.array(
  z.object({
    at: time,
    level: z.enum(["info", "success", "warning", "danger"]),
    code: z.string(),
    text: z.string(),
    sent: z.boolean(),
  }),
);

const device = z.object({
  id: z.int(),
  name: z.string(),
  serial: z.string(),
  status: z.string(),
  class: z.string().nullable(),
  request: z.string().nullable(),
  doing: z.string(),
  run: z
    .object({ name: z.string(), kind: z.string(), phase: z.string(), result: z.string().nullable(), started: time })
    .nullable(),
  accepted: z.object({ kind: z.string(), request: z.string(), by: z.string(), at: time }).nullable(),
  config: z.object({ state: z.string(), run: z.string(), breaks: z.int() }).nullable(),
  token: z.object({ id: z.string(), approved: time.nullable(), deleted: time.nullable() }).nullable(),
  verdict: z.object({ result: z.string(), by: z.string(), at: time, codes: z.array(z.string()) }).nullable(),
  identity: z
    .object({
      ldevid: certificate,
      lak: certificate,
      subject: z.string(),
      issuedAtMs: z.int(),
      issued: time,
      expires: time,
    })
    .nullable(),
  quarantined: z.boolean(),
  retire: z
    .object({
      erased: time.nullable(),
      off: time.nullable(),
      drain_since: time.nullable(),
      cluster_clean: time.nullable(),
      offline: time.nullable(),
      failures: z.int(),
    })
    .nullable(),
  conditions,
});

/** A device whose record is all that is left of it: NetBox has it no more. */
const vanished = z.object({
  id: z.int(),
  name: z.string(),
  since: time.nullable(),
  conditions,
});

export const devicesResponse = z.object({
  devices: z.array(device),
  vanished: z.array(vanished),
  fleet: z.array(conditionShape.extend({ devices: z.int() })),
});

/** `status` null: NetBox has the device no more. */
export const deviceResponse = z.union([device.extend({ timeline }), vanished.extend({ status: z.null(), timeline })]);

export const claimsResponse = z.object({
  claims: z.array(z.looseObject({ serial: z.string(), uuid: z.string(), at: time, contested: z.boolean() })),
});

export const spireNodesResponse = z.object({
  nodes: z.array(z.object({ name: z.string(), spiffe_id: z.string(), serial: z.string(), ldevid_subject: z.string() })),
});
