import { type BundleResult, verifyBundle } from "../../shared/attest/bundle.ts";
import type { EvidenceBundle } from "../../shared/attest/bundle-read.ts";
import type { BootPolicyProfile } from "../../shared/attest/profile.ts";
import { attestQualifyingData } from "../../shared/attest/session.ts";
import type { Bank, Purpose } from "../../shared/attest/verdict.ts";
import { encode } from "../../shared/formats/codec.ts";
import { guidBytes } from "../../shared/formats/eventlog/efi-guid.ts";
import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { UEFI_VARIABLE_DATA } from "../../shared/formats/eventlog/events/efi-variable.ts";
import { signatureList } from "../shared/attest/log-builder.ts";
import { ecKey } from "../shared/attest/soft-key.ts";
import { bothStages, goodBoot, HOOKOS_LINE, LAB, SELECT, smallAuthority } from "./evidence.ts";
import { base64, type LogBank, type QuoteOptions, quoteBy, type Recorded, recordLog } from "./logs.ts";

/** A machine whose TPM tells the truth, and whose log and report fit it: only what was measured is hostile. */
export interface Attack {
  readonly boot?: Recorded[];
  /** What is logged, where it is not what was measured. */
  readonly logged?: Recorded[];
  readonly banks?: readonly LogBank[];
  readonly bank?: Bank;
  readonly profile?: BootPolicyProfile;
  readonly purpose?: Purpose;
  readonly line?: string;
  readonly select?: readonly number[];
  readonly quote?: QuoteOptions;
  readonly pcrs?: (honest: Readonly<Record<string, string>>) => unknown;
  readonly bundle?: (honest: EvidenceBundle) => unknown;
}

export const KEY = ecKey("P-256", "sha256");
export const STRANGER = smallAuthority("Somebody");
const NONCE = new Uint8Array(32).fill(3);

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);
export const good = goodBoot();

/** The bundle of an attack. */
export function bundleOf(attack: Attack): unknown {
  const { boot = good, banks = ["sha256"], bank = "sha256", select = SELECT, line = HOOKOS_LINE } = attack;
  const { pcrs } = recordLog(boot, banks);
  const { log } = recordLog(attack.logged ?? boot, banks);
  const report = text(JSON.stringify({ commandLine: line }));
  const extraData = attestQualifyingData(NONCE, report);
  const held = pcrs[bank] ?? {};
  const honest: EvidenceBundle = {
    akPublic: base64(KEY.public),
    quote: quoteBy(KEY, extraData, bank, held, select, attack.quote),
    expectedExtraData: base64(extraData),
    pcrs,
    eventLog: base64(log),
    request: { bank, select: SELECT },
    report: base64(report),
    secureBoot: "required",
    challenge: { nonce: base64(NONCE) },
  };
  const bundle = attack.pcrs ? { ...honest, pcrs: { [bank]: attack.pcrs(held) } } : honest;
  return attack.bundle ? attack.bundle(bundle as EvidenceBundle) : bundle;
}

/** What the verifier says to an attack; `purpose` is the one that is asked for, not the bundle's. */
export function answerTo(attack: Attack): BundleResult {
  const { profile = bothStages(), purpose } = attack;
  return verifyBundle(bundleOf(attack), { profile, ...(purpose ? { purpose } : {}) });
}

/** "accepted", or the codes of the refusal. */
export function codesFor(attack: Attack): string {
  const { verdict, codes } = answerTo(attack);
  return verdict === "accepted" ? verdict : codes.join(" ");
}

export const at = (name: string): number => good.findIndex((one) => nameOf(one) === name);

/** A good boot with other measurements in one's place. */
export const instead = (name: string, ...others: readonly Recorded[]): Recorded[] =>
  good.flatMap((one) => (nameOf(one) === name ? others : [one]));

/** A good boot with more measurements behind one. */
export const behind = (name: string, ...others: readonly Recorded[]): Recorded[] =>
  good.flatMap((one) => (nameOf(one) === name ? [one, ...others] : [one]));

/** A good boot whose record of one measurement is changed in the log alone. */
export const relogged = (name: string, change: (one: Recorded) => Partial<Recorded>): Recorded[] =>
  good.map((one) => (nameOf(one) === name ? { ...one, hashed: one.hashed ?? one.data, ...change(one) } : one));

/** The name by which the tables call a measurement: a variable's, the separator, or its PCR. */
export function nameOf({ pcr, type, data }: Recorded): string {
  if (pcr !== 7) return `PCR ${pcr}`;
  if (type === EV.EV_SEPARATOR) return "separator";
  const length = new DataView(data.buffer, data.byteOffset).getUint32(16, true);
  const name = Buffer.from(data.subarray(32, 32 + 2 * length)).toString("utf16le");
  return type === EV.EV_EFI_VARIABLE_AUTHORITY ? `authority ${name}` : name;
}

export const GUIDS = {
  global: "8be4df61-93ca-11d2-aa0d-00e098032b8c",
  database: "d719b2cb-3d3a-4596-a3bc-dad00e67656f",
  shim: "605dab50-e046-4300-abb6-3dd810dd8b23",
  other: "11111111-2222-3333-4444-555555555555",
} as const;

/** An event of PCR 7 about a variable of any name and GUID. */
export function about(
  kind: "config" | "authority",
  name: string,
  guid: keyof typeof GUIDS,
  contents: Uint8Array,
  change: Partial<Recorded> = {},
): Recorded {
  const data = encode(UEFI_VARIABLE_DATA, {
    vendorGuid: guidBytes(GUIDS[guid]),
    unicodeName: name,
    variableData: contents,
  });
  const type = kind === "config" ? EV.EV_EFI_VARIABLE_DRIVER_CONFIG : EV.EV_EFI_VARIABLE_AUTHORITY;
  return { pcr: 7, type, data, ...change };
}

const OWNER = new Uint8Array(16).fill(1);
export const owned = (certificate: Uint8Array): Uint8Array => Uint8Array.from([...OWNER, ...certificate]);
export const LAB_AUTHORITY = owned(LAB.der);
export const db = (...certificates: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(Buffer.concat(certificates.map((one) => signatureList(one))));
