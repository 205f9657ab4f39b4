import { FormatError } from "../formats/error.ts";
import type { Certificate } from "../formats/x509/certificate.ts";
import { type EkCertificate, readEkCertificate } from "../formats/x509/ek-certificate.ts";
import { certificateFingerprint } from "./certificates.ts";
import { ekChain, readEkRoots } from "./ek-chain.ts";
import { keyDigest } from "./keys.ts";
import type { Check } from "./verdict.ts";

/** What EK certificates are compared with: the manufacturers' certificates of FLEET_EK_ROOTS, at a moment. */
export interface EkRoots {
  readonly authorities: readonly Certificate[];
  readonly nowMs: number;
}

/** The roots of the policy files, or null where none are given. */
export function ekRootsOf(certificates: readonly Uint8Array[] | undefined, nowMs: number): EkRoots | null {
  return certificates === undefined ? null : { authorities: readEkRoots(certificates), nowMs };
}

/** What an EK certificate says, for people: whose key, which TPM, who issued it, where its chain ends. */
export interface EkShown {
  readonly digest: string | null;
  readonly issuer: string | null;
  readonly text: string;
}

/**
 * Describes an EK certificate that came with an EK (null: it is not known with which), also one that cannot be read: it
 * is evidence for people, never a reason to stop a machine.
 * @see spec/20-verification.md "EK certificates"
 */
export function showEkCertificate(bytes: Uint8Array, roots: EkRoots | null, ek: string | null): EkShown {
  let read: EkCertificate;
  try {
    read = readEkCertificate(bytes);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { digest: null, issuer: null, text: `unreadable: ${error.message}` };
  }
  const { certificate, tpm } = read;
  const digest = certificate.publicKey ? keyDigest(certificate.publicKey) : null;
  const about = [
    // Whoever shows somebody else's certificate beside an EK must not have its chain speak for it.
    ...(ek === null || digest === ek ? [] : ["of another key than this EK"]),
    digest ?? "a key of another kind",
    ...(tpm.manufacturer === null ? [] : [`TPM ${[tpm.manufacturer, tpm.model, tpm.version].join(" ")}`]),
    `issued by ${certificate.issuerText}`,
    `certificate ${certificateFingerprint(certificate.raw)}`,
    chainText(read, roots),
  ];
  return { digest, issuer: certificate.issuerText, text: about.join(", ") };
}

function chainText(read: EkCertificate, roots: EkRoots | null): string {
  if (roots === null) return "chain not looked at: no FLEET_EK_ROOTS";
  const chain = ekChain(read, roots.authorities, roots.nowMs);
  return chain.ok ? `chain to ${chain.path.at(-1)}` : `no chain: ${chain.problem}`;
}

/** The same as a check of a verdict: always passed, since the approved key is the trust. */
export function ekCertificateCheck(bytes: Uint8Array, roots: EkRoots | null, ek: string | null): Check {
  return {
    name: "ek-certificate",
    ok: true,
    seen: showEkCertificate(bytes, roots, ek).text,
    expected: "recorded only",
  };
}
