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

const key = z.object({ public: base64(2048), private: base64(2048).optional() });

export const beginRequest = z.object({
  serial: z.string().min(1).max(64),
  uuid: z.string().min(1).max(64),
  tpm: z.object({ family: z.enum(["2.0", "1.2"]), manufacturer: z.string().max(64), firmware: z.string().max(64) }),
  eks: z
    .array(z.object({ public: base64(2048), certificate: base64(8192).optional() }))
    .min(1)
    .max(8),
  ak: key,
  ldevid: key,
});

export const evidenceRequest = z.object({
  session: sessionText,
  activations: z.array(base64(128)).max(8),
  quote: statement,
  pcrs: pcrValues,
  eventLog: eventLogText,
  ldevidCertify: statement,
  report: reportText,
});

export const confirmRequest = z.object({ session: sessionText, signature: base64(2048) });

const credential = { credentialBlob: base64(1024), secret: base64(1024) };

export const beginResponse = z.object({
  session: z.string(),
  nonce: base64(32),
  pcrs: pcrsAsked,
  challenges: z.array(z.object({ ek: z.string(), ...credential })),
});

export const evidenceResponse = z.object({
  verdict: verdictShape,
  ldevid: z.string().nullable(),
  lak: z.string().nullable(),
  session: z.string(),
  confirm: base64(32),
});

export const confirmResponse = z.object({
  outcome: z.enum(["install", "attested"]),
  installCode: z.object({ ek: z.string(), ...credential }).optional(),
});

/** What a session token may carry; tokens are ours, but their shape is checked like anybody's. */
const common = {
  deviceId: z.int(),
  serial: z.string(),
  uuid: z.string(),
  akPublic: z.string(),
  ldevidPublic: z.string(),
  akPrivate: z.string().optional(),
  ldevidPrivate: z.string().optional(),
  nonce: z.string(),
  bank: z.enum(["sha256", "sha384"]),
  select: z.array(z.int()),
};

export const evidenceClaims = z.object({
  step: z.literal("evidence"),
  ...common,
  eks: z.array(
    z.object({ digest: z.string(), public: z.string(), secret: z.string(), certificate: z.string().optional() }),
  ),
});

export const confirmClaims = z.object({
  step: z.literal("confirm"),
  ...common,
  eks: z.array(z.object({ digest: z.string(), public: z.string() })),
  ldevid: z.string().nullable(),
  lak: z.string().nullable(),
  mac: z.string(),
  lldp: z.string().nullable(),
  confirm: z.string(),
});
