import type { TpmtPublic } from "../formats/tpm2/public.ts";
import { ekDigest, judgeEk, publicKeyOf, readPublic } from "./keys.ts";
import { type Refusal, refusal } from "./verdict.ts";

export interface PresentedEk {
  readonly digest: string;
  readonly public: Uint8Array;
  readonly area: TpmtPublic;
}

export type EkBindingResult =
  | { readonly ok: true; readonly eks: readonly PresentedEk[] }
  | { readonly ok: false; readonly refusal: Refusal<BindingCode> };

type BindingCode = "ek-not-approved" | "ek-not-pinned" | "ek-missing" | "ek-template";

/**
 * The EKs that a machine sent, with their digests. A key of an unknown curve has none and is left out.
 * @throws FormatError for bytes that are no public area
 */
export function presentedEks(publics: readonly Uint8Array[]): PresentedEk[] {
  return publics.flatMap((bytes) => {
    const area = readPublic(bytes);
    return publicKeyOf(area) ? [{ digest: ekDigest(area), public: bytes, area }] : [];
  });
}

/**
 * The EKs to challenge: every approved one, in the order of their digests. One that is not approved is left out and
 * approves nothing; an approved one that is missing, or is of no known template, is a no.
 * @param pins the digests that git pins for the device; null where nothing is pinned
 * @see spec/10-protocol.md section 1
 */
export function bindEks(
  approved: readonly string[],
  presented: readonly PresentedEk[],
  pins: readonly string[] | null = null,
): EkBindingResult {
  const no = (code: BindingCode, seen: string, expected: string): EkBindingResult => ({
    ok: false,
    refusal: refusal(code, "ek-binding", seen, expected),
  });
  if (approved.length === 0) {
    return no("ek-not-approved", presented.map((ek) => ek.digest).join(", ") || "no EK", "an approved EK");
  }
  const unpinned = approved.filter((digest) => pins !== null && !pins.includes(digest));
  if (unpinned.length > 0) return no("ek-not-pinned", unpinned.join(", "), "only EKs that are pinned");
  const eks: PresentedEk[] = [];
  const missing: string[] = [];
  for (const digest of [...new Set(approved)].sort()) {
    const ek = presented.find((one) => one.digest === digest);
    if (ek) eks.push(ek);
    else missing.push(digest);
  }
  if (missing.length === approved.length) {
    return no("ek-not-approved", presented.map((ek) => ek.digest).join(", ") || "no EK", approved.join(", "));
  }
  if (missing.length > 0) return no("ek-missing", `not sent: ${missing.join(", ")}`, "every approved EK");
  for (const { area } of eks) {
    const wrong = judgeEk(area);
    if (wrong) return { ok: false, refusal: wrong };
  }
  return { ok: true, eks };
}
