import type { BundleResult } from "../../shared/attest/bundle.ts";
import type { EvidenceBundle } from "../../shared/attest/bundle-read.ts";
import { base64 } from "./logs.ts";

type Json = Readonly<Record<string, unknown>>;

/** Every binary field of a bundle, by its path; a member of a list by its index. */
export function binaryFields(bundle: EvidenceBundle): string[] {
  const paths = ["akPublic", "quote.attest", "quote.signature", "expectedExtraData", "eventLog"];
  const optional = ["ldevidPublic", "certify.attest", "certify.signature", "report", "challenge.nonce"];
  const certificates = (bundle.ekCertificates ?? []).map((_, i) => `ekCertificates.${i}`);
  return [...paths, ...optional.filter((path) => fieldAt(bundle, path) !== undefined), ...certificates];
}

/** The value at a path of object keys and list indices. */
export function fieldAt(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((at, key) => (at as Json | undefined)?.[key], value);
}

/** A copy of a JSON value with another value at a path; undefined takes the member away. */
export function withField<T>(value: T, path: string, replaced: unknown): T {
  const [key = "", ...rest] = path.split(".");
  const held = (value as Json)[key];
  const next = rest.length === 0 ? replaced : withField(held, rest.join("."), replaced);
  if (Array.isArray(value)) {
    const list = value.map((one, i) => (String(i) === key ? next : one));
    return (next === undefined ? list.filter((_, i) => String(i) !== key) : list) as T;
  }
  const copy = Object.fromEntries(Object.entries(value as Json).filter(([name]) => name !== key));
  return (next === undefined ? copy : { ...copy, [key]: next }) as T;
}

export const bytesAt = (bundle: unknown, path: string): Uint8Array =>
  new Uint8Array(Buffer.from(String(fieldAt(bundle, path)), "base64"));

export const withBytes = <T>(bundle: T, path: string, bytes: Uint8Array): T => withField(bundle, path, base64(bytes));

/** The bytes with one bit turned; bit 0 is the lowest of the first byte. */
export function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = bytes.slice();
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

/** Checks whose words show a thing as it was sent, where another one that passes is no lie: nothing reads them. */
const SHOWN: readonly string[] = ["ak", "event-log"];

/** All of a result that anything is decided or recorded by: what is shown of EK certificates decides nothing. */
export function factsOf({ verdict, codes, checks, boot }: BundleResult): string {
  const kept = checks.flatMap(({ name, ok, seen }) =>
    name === "ek-certificate" ? [] : [{ name, ok, seen: SHOWN.includes(name) ? "" : seen }],
  );
  return JSON.stringify({ verdict, codes, checks: kept, boot: boot && { ...boot, checks: null } });
}
