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

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits");
/**
 * A certificate by its PEM or by its digest. Where a digest stands beside the PEM, the file holds that certificate and no
 * other. `pemFile` is the name of the PEM's file, which whoever reads files puts there for the words of an error.
 */
const named = {
  pem: z.string().optional(),
  pemFile: z.string().optional(),
  sha256: sha256.optional(),
  subject: z.string().min(1).optional(),
};
type Named = z.output<z.ZodObject<typeof named>>;

function checkNamed(entry: Named, context: z.RefinementCtx): void {
  if (entry.pem === undefined && (entry.sha256 === undefined || entry.subject === undefined))
    context.addIssue("needs pem, or sha256 and subject");
  if (entry.pem !== undefined && entry.subject !== undefined) context.addIssue("has its subject in its pem");
}

const stages = z.array(z.enum(["hookos", "os"])).min(1);
const marker = z.string().regex(/^\S+$/, "one word");

/** The shape of a profile's JSON file. @see spec/20-verification.md "PCR 7 and boot policy" */
export const BootPolicyProfileFile = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  bank: z.enum(["sha256", "sha384"]),
  authorities: z.array(z.strictObject({ ...named, for: stages }).superRefine(checkNamed)).min(1),
  hookosMarker: marker.optional(),
  osMarker: marker.optional(),
  beforeSeparator: z.array(z.strictObject(named).superRefine(checkNamed)).optional(),
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
 * is refused: nothing would tell the two stages apart. So is one with another name than its file: classes name files.
 */
export function loadProfile(json: unknown, fileName?: string): ProfileResult {
  const parsed = BootPolicyProfileFile.safeParse(json);
  if (!parsed.success) return { ok: false, problem: issuesOf(parsed.error) };
  const file = parsed.data;
  if (fileName !== undefined && fileName !== file.name)
    return { ok: false, problem: `its name is ${file.name}, and its file is ${fileName}.json: they must agree` };
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
    return problem === null ? { ok: true, profile } : { ok: false, problem };
  } catch (error) {
    if (error instanceof BadPem) return { ok: false, problem: error.message };
    throw error;
  }
}

/** What is wrong with the first profile that does not load, by its file; null where all do. */
export function profilesFault(profiles: Readonly<Record<string, unknown>>): string | null {
  for (const [name, json] of Object.entries(profiles)) {
    const loaded = loadProfile(json, name);
    if (!loaded.ok) return `${name}.json: ${loaded.problem}`;
  }
  return null;
}

/** The stages at which this profile accepts nobody: no machine passes there. */
export function stagesWithoutAuthority(profile: BootPolicyProfile): BootStage[] {
  return (["hookos", "os"] as const).filter((stage) => !profile.authorities.some((one) => one.for.includes(stage)));
}

/** Every issue with its place, as `authorities[0].for[0]: …`. */
function issuesOf(error: z.ZodError): string {
  const place = (path: readonly PropertyKey[]) =>
    path
      .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
      .join("")
      .replace(/^[.]/, "");
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${place(path)}: ${message}`))
    .join("; ");
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

function certificatesIn(entry: Named): { sha256: string; subject: string }[] {
  const { pem, sha256: pinned, subject = "" } = entry;
  if (pem === undefined) return [{ sha256: pinned ?? "", subject }];
  const where = entry.pemFile ?? "a pem";
  const certificates = certificatesOfPem(pem, where);
  if (pinned !== undefined && (certificates.length !== 1 || certificates[0]?.sha256 !== pinned)) {
    const found = certificates.map((one) => `${one.sha256} (${one.subject})`).join(", ");
    throw new BadPem(`${where}: is not the certificate ${pinned} alone, it holds ${found}`);
  }
  return certificates;
}

/** @throws BadPem */
function certificatesOfPem(pem: string, where: string): { sha256: string; subject: string }[] {
  let ders: Uint8Array[];
  try {
    ders = readCertificatePems(pem);
    if (ders.length > 0)
      return ders.map((der) => ({ sha256: toHex(digest("sha256", der)), subject: readCertificate(der).subjectText }));
  } catch (error) {
    if (error instanceof FormatError)
      throw new BadPem(`${where}: a certificate of it is broken (PEM: ${error.message})`);
    throw error;
  }
  if (pem.trim() === "") throw new BadPem(`${where}: is empty, and holds no certificate`);
  if (pem.includes("PRIVATE KEY-----"))
    throw new BadPem(`${where}: holds a private key and no certificate: put the certificate there, and the key away`);
  if (pem.includes("-----BEGIN")) throw new BadPem(`${where}: holds no whole certificate in PEM`);
  throw new BadPem(`${where}: holds no certificate in PEM; of DER, openssl x509 -inform der -in FILE makes it`);
}

class BadPem extends Error {}
