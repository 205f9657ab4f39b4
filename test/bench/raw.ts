import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { secureBootFacts } from "../../shared/attest/secure-boot.ts";
import { decode } from "../../shared/formats/codec.ts";
import { certificatesOf, readSignatureLists } from "../../shared/formats/eventlog/efi-signature-list.ts";
import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { UEFI_VARIABLE_DATA } from "../../shared/formats/eventlog/events/efi-variable.ts";
import { readEventLog } from "../../shared/formats/eventlog/log.ts";
import { TPMT_SIGNATURE } from "../../shared/formats/tpm2/signature.ts";
import type { Evidence } from "./evidence.ts";

type Operation = () => unknown;

/**
 * The OpenSSL operations that a set cannot be verified without, each in its cheapest form, their inputs made ready: the AK imported, the quote's
 * signature, the hash of the values, one extension an event of a quoted PCR, one hash an event of PCR 7, and the
 * digests of the certificates in db and of the authorities, of dbx and of SbatLevel.
 */
export function rawOperations(set: Evidence): Operation {
  const pem = set.key.publicKey.export({ format: "pem", type: "spki" });
  const { signature } = signatureOf(set);
  const operations: Operation[] = [];
  const sha256 = (data: Uint8Array) => operations.push(() => hash("sha256", data, "hex"));
  sha256(new Uint8Array(32 * set.select.length));
  for (const data of hashedData(set)) sha256(data);
  const run = (key: KeyObject) => verify("sha256", set.attest, key, signature);
  return () => {
    for (const operation of operations) operation();
    return run(createPublicKey(pem));
  };
}

/** Importing the key and checking one signature: the part that no length of log changes. */
export function rawSignature(set: Evidence): Operation {
  const pem = set.key.publicKey.export({ format: "pem", type: "spki" });
  const { signature } = signatureOf(set);
  return () => verify("sha256", set.attest, createPublicKey(pem), signature);
}

function signatureOf(set: Evidence): { signature: Uint8Array } {
  const read = decode(TPMT_SIGNATURE, set.signature, "TPMT_SIGNATURE");
  if (read.sigAlg !== 0x0018) return { signature: read.sig };
  const number = (value: Uint8Array) => {
    const digits = (value[0] ?? 0) & 0x80 ? [0, ...value] : [...value];
    return [2, digits.length, ...digits];
  };
  const body = [...number(read.signatureR), ...number(read.signatureS)];
  return { signature: Uint8Array.from([0x30, body.length, ...body]) };
}

function hashedData(set: Evidence): Uint8Array[] {
  const log = readEventLog(set.eventLog);
  const facts = secureBootFacts(log, "sha256");
  const data: Uint8Array[] = [];
  for (const record of log.records) {
    if (record.untrustedType === EV.EV_NO_ACTION) continue;
    if (set.select.includes(record.pcrIndex)) data.push(new Uint8Array(64));
    if (record.pcrIndex !== 7) continue;
    data.push(record.untrustedData);
    if (record.untrustedType === EV.EV_EFI_VARIABLE_AUTHORITY) data.push(record.untrustedData);
    if (record.untrustedType !== EV.EV_EFI_VARIABLE_DRIVER_CONFIG) continue;
    const { unicodeName, variableData } = decode(UEFI_VARIABLE_DATA, record.untrustedData, "UEFI_VARIABLE_DATA");
    if (unicodeName === "dbx") data.push(variableData);
    if (unicodeName === "db") data.push(...certificatesOf(readSignatureLists(variableData)));
  }
  if (facts.problems.length > 0) throw new Error(facts.problems[0]?.detail);
  return data;
}
