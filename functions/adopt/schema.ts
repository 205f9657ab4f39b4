import { z } from "zod";

/** The node's LDevID and LAK certificates as PEM, in any order; certificates of issuers between them are left out. */
export const adoptRequest = z.strictObject({
  certificates: z
    .string()
    .min(1)
    .max(48 * 1024),
});

const named = z.object({ serialNumber: z.string(), spkiSha256: z.string(), notAfterMs: z.number() });

export const adoptResponse = z.object({
  device: z.string(),
  class: z.string(),
  identity: z.object({ ldevid: named, lak: named, subject: z.string(), issuedAtMs: z.number() }),
});
