import { z } from "zod";
import {
  base64,
  eventLogText,
  pcrsAsked,
  pcrValues,
  reportText,
  sessionText,
  statement,
  verdictShape,
} from "../../shared/runtime/wire-schema.ts";

/** A certificate as the node keeps it: PEM (leaf first, its chain is ignored), or base64 of the leaf's DER. */
const certificate = z
  .string()
  .min(1)
  .max(24 * 1024);

export const beginRequest = z.object({ ldevid: certificate, lak: certificate });

export const evidenceRequest = z.object({
  session: sessionText,
  quote: statement,
  pcrs: pcrValues,
  eventLog: eventLogText,
  report: reportText,
  ldevid: z.object({ public: base64(2048) }),
  /** May be absent where the LDevID key stays the same. */
  ldevidCertify: statement.optional(),
  /** By the key of the LDevID certificate that begin was shown. */
  signature: base64(2048),
});

export const beginResponse = z.object({ session: z.string(), nonce: base64(32), pcrs: pcrsAsked });

export const evidenceResponse = z.object({ verdict: verdictShape, ldevid: z.string(), lak: z.string() });

/** What a renewal's token carries. */
export const renewClaims = z.object({
  step: z.literal("renew"),
  deviceId: z.int(),
  nonce: z.string(),
  bank: z.enum(["sha256", "sha384"]),
  select: z.array(z.int()),
  ldevidCertificate: z.string(),
  lakCertificate: z.string(),
  recordedLdevid: z.string(),
});
