import { createHash } from "node:crypto";
import { encode } from "../../../shared/formats/codec.ts";
import { guidBytes } from "../../../shared/formats/eventlog/efi-guid.ts";
import { EV } from "../../../shared/formats/eventlog/event-types.ts";
import { UEFI_VARIABLE_DATA } from "../../../shared/formats/eventlog/events/efi-variable.ts";
import { TCG_EFI_SPEC_ID_EVENT, TCG_PCR_EVENT, tcgPcrEvent2 } from "../../../shared/formats/eventlog/log.ts";

/** One measurement: what is hashed, and what is logged where that is another thing. */
export interface Measurement {
  readonly pcr: number;
  readonly type: number;
  readonly data: Uint8Array;
  readonly hashed?: Uint8Array;
}

const GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c";
const DATABASE = "d719b2cb-3d3a-4596-a3bc-dad00e67656f";
const SHIM_LOCK = "605dab50-e046-4300-abb6-3dd810dd8b23";
const OWNER = "00000000-0000-0000-0000-000000000001";
const X509 = "a5c059a1-94e4-4aa7-87b5-ab155c2bf072";

const sha256 = (data: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(data).digest());
const joined = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** A signature list of one certificate. */
export function signatureList(certificate: Uint8Array): Uint8Array {
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32LE(28 + 16 + certificate.length, 0);
  sizes.writeUInt32LE(16 + certificate.length, 8);
  return joined(guidBytes(X509), sizes, guidBytes(OWNER), certificate);
}

/** EV_EFI_VARIABLE_DRIVER_CONFIG in PCR 7. */
export function variable(name: string, variableData: Uint8Array): Measurement {
  const vendorGuid = guidBytes(name === "db" || name === "dbx" ? DATABASE : GLOBAL);
  const data = encode(UEFI_VARIABLE_DATA, { vendorGuid, unicodeName: name, variableData });
  return { pcr: 7, type: EV.EV_EFI_VARIABLE_DRIVER_CONFIG, data };
}

/** EV_EFI_VARIABLE_AUTHORITY; the owner's GUID stands before a certificate of db. */
export function authority(name: string, contents: Uint8Array, pcr = 7): Measurement {
  const variableData = name === "db" ? joined(guidBytes(OWNER), contents) : contents;
  const vendorGuid = guidBytes(name === "db" || name === "vendor_db" ? DATABASE : SHIM_LOCK);
  const data = encode(UEFI_VARIABLE_DATA, { vendorGuid, unicodeName: name, variableData });
  return { pcr, type: EV.EV_EFI_VARIABLE_AUTHORITY, data };
}

export const separator: Measurement = { pcr: 7, type: EV.EV_SEPARATOR, data: new Uint8Array(4) };

/** The variables of a machine whose db holds this certificate. */
export function variables(certificate: Uint8Array, secureBoot: Uint8Array = Uint8Array.of(1)): Measurement[] {
  return [
    variable("SecureBoot", secureBoot),
    variable("PK", new Uint8Array(0)),
    variable("KEK", new Uint8Array(0)),
    variable("db", signatureList(certificate)),
    variable("dbx", new Uint8Array(0)),
  ];
}

/** A crypto-agile log with SHA-256 alone, and the PCRs that its measurements leave. */
export function buildLog(measurements: readonly Measurement[]): { log: Uint8Array; pcrs: Record<string, string> } {
  const event = encode(TCG_EFI_SPEC_ID_EVENT, {
    signature: new TextEncoder().encode("Spec ID Event03\0"),
    platformClass: 0,
    specVersionMinor: 0,
    specVersionMajor: 2,
    specErrata: 0,
    uintnSize: 2,
    algorithms: [{ algorithmId: 0x000b, digestSize: 32 }],
    vendorInfo: new Uint8Array(0),
  });
  const parts = [encode(TCG_PCR_EVENT, { pcrIndex: 0, eventType: EV.EV_NO_ACTION, digest: new Uint8Array(20), event })];
  const values: Uint8Array[] = Array.from({ length: 24 }, () => new Uint8Array(32));
  const firmware: Measurement = { pcr: 0, type: EV.EV_S_CRTM_VERSION, data: Uint8Array.of(1) };
  for (const { pcr, type, data, hashed } of [...measurements, firmware]) {
    const digest = sha256(hashed ?? data);
    const record = { pcrIndex: pcr, eventType: type, digests: [{ algorithmId: 0x000b, digest }], event: data };
    parts.push(encode(tcgPcrEvent2([0x000b]), record));
    if (type !== EV.EV_NO_ACTION) values[pcr] = sha256(joined(values[pcr] ?? new Uint8Array(32), digest));
  }
  const pcrs = values.map((value, pcr) => [String(pcr), Buffer.from(value).toString("hex")]);
  return { log: joined(...parts), pcrs: Object.fromEntries(pcrs) as Record<string, string> };
}
