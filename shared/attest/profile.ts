import { z } from "zod";
import { digest } from "../crypto/hash.ts";
import { FormatError } from "../formats/error.ts";
import { readCertificate } from "../formats/x509/certificate.ts";
import { readCertificatePems } from "../formats/x509/pem.ts";
import { toHex } from "./hex.ts";
import type { Bank } from "./verdict.ts";

export type BootStage = "hookos" | "os";

/** A certificate that may have signed what a machine runs, and at which of the two stages. */
export interface AcceptedAuthority {
  readonly sha256: string;
  readonly subject: string;
  readonly for: readonly BootStage[];
}

/** A further event that the log must hold, known by its digest alone: the type is under none. */
export interface RequiredEvent {
  readonly pcr: number;
  readonly digest: string;
  readonly note: string;
}

/** What a class accepts of a boot: a JSON file of its own, with the PEMs it names in place. */
export interface BootPolicyProfile {
  readonly name: string;
  readonly bank: Bank;
  readonly authorities: readonly AcceptedAuthority[];
  readonly hookosMarker: string | null;
  readonly osMarker: string | null;
  /** Certificates accepted before the separator; null: recorded and not judged. */
  readonly beforeSeparator: readonly string[] | null;
  readonly requiredEvents: readonly RequiredEvent[];
  /** EV_EFI_ACTION texts of PCR 7 that are no reason for a refusal. */
  readonly allowedActions: readonly string[];
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const byFingerprint = { sha256, subject: z.string().min(1) };
/** Where a digest stands beside the PEM, the file holds that certificate and no other. */
const byPem = { pem: z.string().min(1), sha256: sha256.optional() };
const stages = z.array(z.enum(["hookos", "os"])).min(1);
const marker = z.string().regex(/^\S+$/, "one word");

/** The shape of a profile's JSON file. @see spec/20-verification.md "PCR 7 and boot policy" */
export const BootPolicyProfileFile = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  bank: z.enum(["sha256", "sha384"]),
  authorities: z
    .array(z.union([z.strictObject({ ...byPem, for: stages }), z.strictObject({ ...byFingerprint, for: stages })]))
    .min(1),
  hookosMarker: marker.optional(),
  osMarker: marker.optional(),
  beforeSeparator: z.array(z.union([z.strictObject(byPem), z.strictObject(byFingerprint)])).optional(),
  requiredEvents: z
    .array(
      z.strictObject({
        pcr: z
          .int()
          .min(0)
          .max(23)
          .refine((pcr) => pcr !== 10, "PCR 10 is the running system's"),
        digest: z.string().regex(/^([0-9a-f]{64}|[0-9a-f]{96})$/),
        note: z.string().default(""),
      }),
    )
    .default([]),
  allowedActions: z.array(z.enum(["UEFI Debug Mode", "DMA Protection Disabled"])).default([]),
});

export type ProfileResult =
  | { readonly ok: true; readonly profile: BootPolicyProfile }
  | { readonly ok: false; readonly problem: string };

/**
 * A profile of its parsed JSON. One whose lists for HookOS and for the installed system overlap, without both markers,
 * is refused: nothing would tell the two stages apart.
 */
export function loadProfile(json: unknown): ProfileResult {
  const parsed = BootPolicyProfileFile.safeParse(json);
  if (!parsed.success) return { ok: false, problem: z.prettifyError(parsed.error) };
  const file = parsed.data;
  try {
    const authorities = file.authorities.flatMap((one) =>
      certificatesIn(one).map((certificate) => ({ ...certificate, for: [...new Set(one.for)] })),
    );
    const profile: BootPolicyProfile = {
      name: file.name,
      bank: file.bank,
      authorities,
      hookosMarker: file.hookosMarker ?? null,
      osMarker: file.osMarker ?? null,
      beforeSeparator: file.beforeSeparator?.flatMap((one) => certificatesIn(one).map((c) => c.sha256)) ?? null,
      requiredEvents: file.requiredEvents,
      allowedActions: file.allowedActions,
    };
    const problem = problemOf(profile);
    return problem === null ? { ok: true, profile } : { ok: false, problem: `profile ${profile.name}: ${problem}` };
  } catch (error) {
    if (error instanceof FormatError) return { ok: false, problem: `profile ${file.name}: ${error.message}` };
    throw error;
  }
}

/** Whether an authority is accepted for both stages, so that only the command line tells them apart. */
export function overlaps(profile: BootPolicyProfile): boolean {
  return profile.authorities.some((one) => one.for.includes("hookos") && one.for.includes("os"));
}

/** The PCRs that a quote must cover for this profile: never 10, which a running system extends at every file. */
export function profilePcrs(profile: BootPolicyProfile): number[] {
  const pcrs = new Set([0, 1, 2, 3, 4, 5, 6, 7, ...profile.requiredEvents.map((event) => event.pcr)]);
  if (overlaps(profile)) pcrs.add(9);
  return [...pcrs].sort((a, b) => a - b);
}

function problemOf(profile: BootPolicyProfile): string | null {
  const stagesOf = new Map<string, string>();
  for (const one of profile.authorities) {
    const known = stagesOf.get(one.sha256);
    if (known !== undefined) return `certificate ${one.sha256} is listed twice`;
    stagesOf.set(one.sha256, one.for.join());
  }
  if (overlaps(profile)) {
    if (profile.hookosMarker === null || profile.osMarker === null) {
      return "an authority is for both hookos and os, so hookosMarker and osMarker are needed";
    }
    if (profile.hookosMarker === profile.osMarker) return "hookosMarker and osMarker are the same word";
  }
  const digestCharacters = profile.bank === "sha256" ? 64 : 96;
  if (profile.requiredEvents.some((event) => event.digest.length !== digestCharacters)) {
    return `a required event's digest is not of the ${profile.bank} bank`;
  }
  return null;
}

function certificatesIn(
  entry: { pem: string; sha256?: string | undefined } | { sha256: string; subject: string },
): { sha256: string; subject: string }[] {
  if (!("pem" in entry)) return [{ sha256: entry.sha256, subject: entry.subject }];
  const certificates = readCertificatePems(entry.pem).map((der) => ({
    sha256: toHex(digest("sha256", der)),
    subject: readCertificate(der).subjectText,
  }));
  if (certificates.length === 0) throw new FormatError("truncated", "PEM", 0, "no certificate");
  const pinned = entry.sha256;
  if (pinned !== undefined && (certificates.length !== 1 || certificates[0]?.sha256 !== pinned)) {
    throw new FormatError("unknown-value", "PEM", 0, `not the certificate ${pinned} alone`);
  }
  return certificates;
}
