import { X509Certificate } from "node:crypto";
import { LabAuthority } from "../../infra/lab/kubernetes/authority.ts";
import type { EvidenceBundle } from "../../shared/attest/bundle-read.ts";
import { nameOf } from "../../shared/attest/keys.ts";
import { type BootPolicyProfile, loadProfile } from "../../shared/attest/profile.ts";
import { attestQualifyingData, renewQualifyingData } from "../../shared/attest/session.ts";
import type { Bank, Purpose } from "../../shared/attest/verdict.ts";
import { encode } from "../../shared/formats/codec.ts";
import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { TPMS_ATTEST } from "../../shared/formats/tpm2/attest.ts";
import { TPM2B_PUBLIC, type TpmtPublic } from "../../shared/formats/tpm2/public.ts";
import { authority, separator, variables } from "../shared/attest/log-builder.ts";
import { ecKey, rsaKey, type SoftKey } from "../shared/attest/soft-key.ts";
import { vector } from "../vectors/read.ts";
import { base64, quoteBy, type Recorded, recordLog } from "./logs.ts";

/** Evidence that is accepted, with the policy that accepts it. */
export interface GoodSet {
  readonly name: string;
  readonly bundle: EvidenceBundle;
  readonly profile: BootPolicyProfile | null;
}

export const KEY_KINDS = ["RSASSA", "RSAPSS", "P-256", "P-384"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

export const SELECT = [0, 1, 2, 3, 4, 5, 6, 7, 9];
export const HOOKOS_LINE = "console=ttyS0 fleet_stage=hookos";
export const OS_LINE = "console=ttyS0 fleet_stage=os";

/** A small CA certificate, as the authority that signs what boots. */
export function smallAuthority(commonName: string): { readonly der: Uint8Array; readonly pem: string } {
  const { pem } = new LabAuthority(commonName);
  return { der: new Uint8Array(new X509Certificate(pem).raw), pem };
}

export const LAB = smallAuthority("Boot CA");

/** A policy by which the lab's authority signs both stages, so that the command line decides. */
export function bothStages(change: Readonly<Record<string, unknown>> = {}): BootPolicyProfile {
  const loaded = loadProfile({
    name: "both",
    bank: "sha256",
    authorities: [{ pem: LAB.pem, for: ["hookos", "os"] }],
    hookosMarker: "fleet_stage=hookos",
    osMarker: "fleet_stage=os",
    ...change,
  });
  if (!loaded.ok) throw new Error(loaded.problem);
  return loaded.profile;
}

/** A command line as the kernel's stub measures it, first of all in PCR 9. */
export function loadOptionsEvent(line: string): Recorded {
  const hashed = new Uint8Array(Buffer.from(`${line}\0`, "utf16le"));
  return { pcr: 9, type: EV.EV_EVENT_TAG, data: new TextEncoder().encode("LOADED_IMAGE::LoadOptions"), hashed };
}

/** What firmware measures of itself, so that PCR 0 is not as it was made. */
export const firmware: Recorded = { pcr: 0, type: EV.EV_S_CRTM_VERSION, data: Uint8Array.of(1, 2, 3) };

/** The measurements of a good boot. */
export function goodBoot(line = HOOKOS_LINE): Recorded[] {
  const application = { pcr: 4, type: EV.EV_EFI_BOOT_SERVICES_APPLICATION, data: Uint8Array.of(9, 9, 9, 9) };
  return [
    firmware,
    ...variables(LAB.der),
    separator,
    { ...application, hashed: new Uint8Array(64) },
    authority("db", LAB.der),
    authority("SbatLevel", new TextEncoder().encode("sbat,1,2023012900\n")),
    loadOptionsEvent(line),
    { pcr: 8, type: EV.EV_IPL, data: new TextEncoder().encode("unjudged") },
  ];
}

/** A signing key of a kind, with the bank that goes with it. */
export function softKey(kind: KeyKind): { readonly key: SoftKey; readonly bank: Bank } {
  if (kind === "RSASSA") return { key: rsaKey("rsassa", "sha256"), bank: "sha256" };
  if (kind === "RSAPSS") return { key: rsaKey("rsapss", "sha384"), bank: "sha256" };
  if (kind === "P-256") return { key: ecKey("P-256", "sha256"), bank: "sha256" };
  return { key: ecKey("P-384", "sha384"), bank: "sha384" };
}

const unrestricted = (area: TpmtPublic): TpmtPublic => ({
  ...area,
  objectAttributes: { ...area.objectAttributes, restricted: false },
});

/** TPM2_Certify of a key by the AK. */
function certifyBy(ak: SoftKey, subject: TpmtPublic): { readonly attest: string; readonly signature: string } {
  const attest = encode(TPMS_ATTEST, {
    magic: 0xff544347,
    type: 0x8017,
    qualifiedSigner: new Uint8Array(34).fill(5),
    extraData: Uint8Array.of(0, 0xff, 0x55, 0xaa),
    clockInfo: { clock: 76n, resetCount: 2, restartCount: 3, safe: 1 },
    firmwareVersion: 4n,
    attested: { name: nameOf(subject), qualifiedName: new Uint8Array(34).fill(6) },
  });
  return { attest: base64(attest), signature: base64(ak.sign(attest)) };
}

/** A whole bundle, report, challenge and certification in it. */
export function softSet(kind: KeyKind, purpose: Purpose): GoodSet {
  const { key, bank } = softKey(kind);
  const line = purpose === "intake" ? HOOKOS_LINE : OS_LINE;
  const { log, pcrs } = recordLog(goodBoot(line), [bank, bank === "sha256" ? "sha384" : "sha256"]);
  const report = new TextEncoder().encode(JSON.stringify({ commandLine: line }));
  const nonce = new Uint8Array(32).fill(9);
  const ldevid = unrestricted(softKey("P-256").key.area);
  const ldevidPublic = encode(TPM2B_PUBLIC, ldevid);
  const extraData =
    purpose === "intake" ? attestQualifyingData(nonce, report) : renewQualifyingData(nonce, report, ldevidPublic);
  const bundle: EvidenceBundle = {
    akPublic: base64(key.public),
    quote: quoteBy(key, extraData, bank, pcrs[bank] ?? {}, SELECT),
    expectedExtraData: base64(extraData),
    pcrs,
    eventLog: base64(log),
    request: { bank, select: SELECT },
    ekCertificates: [base64(vector("ekcerts/swtpm-071-ecc-p384.der"))],
    ldevidPublic: base64(ldevidPublic),
    certify: certifyBy(key, ldevid),
    report: base64(report),
    purpose,
    secureBoot: "required",
    challenge: { nonce: base64(nonce) },
  };
  return { name: `${kind} ${purpose}`, bundle, profile: bothStages({ bank }) };
}
