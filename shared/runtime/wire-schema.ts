import { z } from "zod";

/** Standard base64 of bytes, bounded; spec/10: all binary but PCR values. */
export const base64 = (maxBytes: number) =>
  z
    .string()
    .max(Math.ceil(maxBytes / 3) * 4)
    .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, "is not standard base64");

/** TPMS_ATTEST with its TPMT_SIGNATURE. */
export const statement = z.object({ attest: base64(4096), signature: base64(2048) });

/** A session token as a machine hands it back; it carries what begin was sent, 64 KiB, encrypted and in base64. */
export const sessionText = z.string().max(128 * 1024);

const PCRS = 24;

// Before the members are looked at: an issue for each of a hundred thousand is a hundred times the body.
const asManyAsPcrs = (value: unknown): unknown =>
  typeof value === "object" && value !== null && Object.keys(value).length > PCRS ? undefined : value;

/** PCR index → lower-case hex. */
export const pcrValues = z.preprocess(
  asManyAsPcrs,
  z.record(z.string().regex(/^(\d|1\d|2[0-3])$/), z.string().regex(/^([0-9a-f]{64}|[0-9a-f]{96})$/)),
);

export const eventLogText = base64(1024 * 1024);
export const reportText = base64(64 * 1024);

/** What a quote is asked for. */
export const pcrsAsked = z.object({ bank: z.enum(["sha256", "sha384"]), select: z.array(z.int()) });

/** A verdict as programs read it: more fields may come. */
export const verdictShape = z.looseObject({
  result: z.enum(["pass", "fail"]),
  checks: z.array(z.looseObject({ name: z.string(), ok: z.boolean() })),
});

/** A condition, with the words of the list of conditions where this fleetd knows it. */
export const conditionShape = z.object({
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  since: z.iso.datetime(),
  run: z.string(),
  means: z.string().optional(),
  who: z.string().optional(),
  clears: z.string().optional(),
});
