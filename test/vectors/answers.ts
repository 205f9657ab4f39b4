import { readRecorded, toBundle } from "./to-bundle.ts";

/** What fleetd's selection was where swtpm made the sets, and what Google's quotes cover. */
export const SELECT = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14];
export const ALL = Array.from({ length: 24 }, (_, i) => i);

export type Answer = readonly ["accepted" | "refused" | "unreadable", codes: readonly string[], because: RegExp];

/** Every recorded attestation: what a verifier must say, and of what it must speak. */
export const ANSWERS: Readonly<Record<string, Answer>> = {
  "bad-bank-sha1-rsa.json": ["refused", ["quote-invalid"], /^quote-selection: sha1:/],
  "bad-certify-as-quote-rsa.json": ["refused", ["quote-invalid"], /^quote-type: 0x8017/],
  // The value that was not asked for is dropped: what is left is a good quote.
  "bad-extra-unquoted-pcr10-rsa.json": ["accepted", [], /^$/],
  "bad-forged-by-unrestricted-key-rsa.json": ["refused", ["ak-attributes"], /attributes 0x00040072/],
  "bad-log-all-seps-retyped.json": ["refused", ["secure-boot-mismatch"], /0 separators in PCR 7/],
  "bad-log-cut-mid-event.json": ["refused", ["event-log-malformed"], /record 82 at byte 33872/],
  "bad-log-last-two-swapped.json": ["refused", ["event-log-mismatch"], /^replay: PCR 5 /],
  "bad-log-late-secureboot-event-rsa.json": ["refused", ["secure-boot-mismatch"], /variable SecureBoot twice/],
  "bad-log-sep7-retyped.json": ["refused", ["secure-boot-mismatch"], /0 separators in PCR 7/],
  "bad-log-trailing-zero-page.json": ["refused", ["event-log-malformed"], /record 83 at byte 34034/],
  "bad-log-truncated-last-event.json": ["refused", ["event-log-mismatch"], /^replay: PCR 5 /],
  "bad-magic-rsa.json": ["refused", ["quote-invalid"], /^quote-magic/],
  "bad-nonce-rsa.json": ["refused", ["quote-invalid"], /^quote-nonce/],
  "bad-other-ak-rsa.json": ["refused", ["quote-invalid"], /^quote-signature: scheme 0x14/],
  "bad-partial-selection-rsa.json": ["refused", ["quote-invalid"], /^quote-selection: sha256:0,1,2,3$/],
  "bad-pcr7-rsa.json": ["refused", ["quote-invalid"], /^quote-digest/],
  "bad-signature-ecc.json": ["refused", ["quote-invalid"], /^quote-digest/],
  "bad-signature-rsa.json": ["refused", ["quote-invalid"], /^quote-digest/],
  "bad-trailing-rsa.json": ["refused", ["quote-invalid"], /^quote-structure: .*trailing/],
  "bad-trailing-sig-rsa.json": ["refused", ["quote-invalid"], /^quote-signature: .*trailing/],
  "bad-truncated-rsa.json": ["refused", ["quote-invalid"], /^quote-structure: .*truncated/],
  "enrolment-swtpm.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "gce-cos-85-no-nonce.json": ["accepted", [], /^$/],
  "ok-fedora-keylime-sb-ecc.json": ["accepted", [], /^$/],
  "ok-fedora-keylime-sb-rsa.json": ["accepted", [], /^$/],
  "ok-rhel8-gce-ecc.json": ["accepted", [], /^$/],
  "ok-rhel8-gce-rsa.json": ["accepted", [], /^$/],
  "ok-sb-cert-rsa.json": ["accepted", [], /^$/],
  "ok-sha384-bank-rsa.json": ["accepted", [], /^$/],
  // fleetd asks for one bank: a quote over two is not what was asked for.
  "ok-two-banks-rsa.json": ["refused", ["quote-invalid"], /^quote-selection: sha1:.* sha256:/],
  "ok-ubuntu-tcglog-ecc.json": ["accepted", [], /^$/],
  "ok-ubuntu-tcglog-rsa.json": ["accepted", [], /^$/],
  "ok-ubuntu2404-nosb-ecc.json": ["accepted", [], /^$/],
  "ok-ubuntu2404-nosb-rsa.json": ["accepted", [], /^$/],
  // The AK's public area is not in the source of these: parts of them are looked at below.
  "real-IMN-DELL.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-IMN-SUPERMICRO-no-epp.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-failed-1.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-failed-2.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-good-1.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-hahuri-no-eventlog.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-ludmilla.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
};

/** A recorded attestation as the bundle that its answer is about. */
export function answeredBundle(file: string): ReturnType<typeof toBundle> {
  return toBundle(readRecorded(file), file.startsWith("gce") ? ALL : SELECT, file.includes("sha384") ? "sha384" : "sha256");
}
