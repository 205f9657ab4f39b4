import { describeLog } from "../../shared/attest/describe-log.ts";
import type { Bank } from "../../shared/attest/verdict.ts";
import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { readEventLog } from "../../shared/formats/eventlog/log.ts";
import { hashName } from "../../shared/formats/tpm2/algorithms.ts";
import { vectorJson } from "../vectors/read.ts";
import { readRecorded } from "../vectors/to-bundle.ts";

/** One TPM2_PCR_Extend, a digest for each bank of the log. */
export interface Extend {
  readonly pcr: number;
  readonly digests: Readonly<Record<string, Uint8Array>>;
}

export type AkKind = "rsa" | "ecc";

/** What a session needs of a recorded set: its log, and the policy under which that log is a good one. */
export interface RecordedSet {
  readonly file: string;
  readonly akKind: AkKind;
  readonly bank: Bank;
  readonly eventLog: Uint8Array;
  readonly secureBoot: "required" | "off";
  /** A profile file's content: the log's own authorities, each for HookOS. */
  readonly profile: Readonly<Record<string, unknown>>;
}

/** A set without Secure Boot names no authority, but a profile has one at least. */
const NOBODY = { sha256: "0".repeat(64), subject: "CN=Nobody", for: ["hookos"] };

/** The files of the manifest that begin so. */
export function manifestFiles(prefix: string): string[] {
  const { sets } = vectorJson<{ readonly sets: readonly { readonly file: string }[] }>("attestations/manifest.json");
  return sets.map((set) => set.file).filter((file) => file.startsWith(prefix));
}

/** The log of a recorded file. */
export function recordedLog(file: string): Uint8Array {
  return new Uint8Array(Buffer.from(String(readRecorded(file).eventLog ?? ""), "base64"));
}

/** A recorded set, with a profile made of what its log says. */
export function recordedSet(file: string): RecordedSet {
  const recorded = readRecorded(file);
  const bank = recorded.bank === "sha384" ? "sha384" : "sha256";
  const eventLog = recordedLog(file);
  const said = describeLog(eventLog);
  const named = new Map(
    said.authorities
      .filter((one) => !one.beforeSeparator)
      .map(({ sha256, subject }) => [sha256, { sha256, subject, for: ["hookos"] }]),
  );
  const authorities = named.size === 0 ? [NOBODY] : [...named.values()];
  return {
    file,
    akKind: recorded.akKind === "ecc" ? "ecc" : "rsa",
    bank,
    eventLog,
    secureBoot: said.secureBoot === true ? "required" : "off",
    profile: { name: "recorded", bank, authorities },
  };
}

/** What firmware would have extended for this log; EV_NO_ACTION never is. */
export function extendsOf(eventLog: Uint8Array): Extend[] {
  return readEventLog(eventLog).records.flatMap((record): Extend[] => {
    if (record.untrustedType === EV.EV_NO_ACTION) return [];
    const digests = record.digests.map(({ algorithmId, digest }) => [hashName(algorithmId) ?? "", digest] as const);
    return [{ pcr: record.pcrIndex, digests: Object.fromEntries(digests) }];
  });
}
