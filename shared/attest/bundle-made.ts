import type { EvidenceBundle } from "./bundle-read.ts";
import { toBase64 } from "./hex.ts";
import type { Bank, Verdict } from "./verdict.ts";

interface SentStatement {
  readonly attest: string;
  readonly signature: string;
}

/** An attestation's inputs as they were sent (base64), with what they were judged by. */
export interface MadeOf {
  readonly device: string;
  /** ISO 8601. */
  readonly at: string;
  readonly akPublic: string;
  readonly ldevidPublic: string;
  readonly nonce: string;
  /** Each EK's, where it was sent. */
  readonly ekCertificates?: readonly string[];
  readonly expectedExtraData: Uint8Array;
  readonly bank: Bank;
  readonly select: readonly number[];
  readonly sent: {
    readonly quote: SentStatement;
    readonly pcrs: Readonly<Record<string, string>>;
    readonly eventLog: string;
    readonly ldevidCertify?: SentStatement | undefined;
    readonly report: string;
  };
  readonly verdict: Verdict;
  /** What the class demands; null for a class that is not known. */
  readonly secureBoot: "required" | "off" | null;
}

/** One bundle that `verifyBundle` judges again offline. @see spec/20-verification.md "Evidence bundles" */
export function evidenceBundle(of: MadeOf): Omit<EvidenceBundle, "profile" | "secureBoot"> & Record<string, unknown> {
  const { sent, verdict } = of;
  return {
    device: of.device,
    at: of.at,
    purpose: verdict.purpose,
    profile: verdict.profile,
    secureBoot: of.secureBoot,
    akPublic: of.akPublic,
    ldevidPublic: of.ldevidPublic,
    ...(of.ekCertificates && { ekCertificates: of.ekCertificates }),
    quote: sent.quote,
    ...(sent.ldevidCertify && { certify: sent.ldevidCertify }),
    expectedExtraData: toBase64(of.expectedExtraData),
    challenge: { nonce: of.nonce },
    request: { bank: of.bank, select: of.select },
    pcrs: { [of.bank]: sent.pcrs },
    eventLog: sent.eventLog,
    report: sent.report,
    verdict,
  };
}
