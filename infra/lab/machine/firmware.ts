import { createHash } from "node:crypto";
import { encode } from "../../../shared/formats/codec.ts";
import { GUID, guidBytes } from "../../../shared/formats/eventlog/efi-guid.ts";
import { EV } from "../../../shared/formats/eventlog/event-types.ts";
import { UEFI_VARIABLE_DATA } from "../../../shared/formats/eventlog/events/efi-variable.ts";
import { EV_SEPARATOR_DATA, NORMAL_SEPARATOR } from "../../../shared/formats/eventlog/events/separator.ts";
import { STARTUP_LOCALITY, startupLocality } from "../../../shared/formats/eventlog/events/startup-locality.ts";
import {
  SPEC_ID_SIGNATURE,
  TCG_EFI_SPEC_ID_EVENT,
  TCG_PCR_EVENT,
  tcgPcrEvent2,
} from "../../../shared/formats/eventlog/log.ts";
import { HASH_ALGORITHMS } from "../../../shared/formats/tpm2/algorithms.ts";

export type LabBank = "sha1" | "sha256" | "sha384";

/** What a machine's firmware starts. */
export interface Boot {
  /** Certificate (DER) that signed what is booted. */
  readonly authority: Uint8Array;
  /** Certificates in the firmware's db. */
  readonly dbCertificates: readonly Uint8Array[];
  readonly commandLine: string;
  readonly secureBoot: boolean;
  /** Banks of the TPM; SHA-256 alone where absent. */
  readonly banks?: readonly LabBank[];
}

/** One TPM2_PCR_Extend: a digest for each bank. */
export interface Extend {
  readonly pcr: number;
  readonly digests: Readonly<Partial<Record<LabBank, Uint8Array>>>;
}

/** What the firmware leaves behind: its log, and what it extended. */
export interface Measured {
  readonly eventLog: Uint8Array;
  readonly extends: readonly Extend[];
  /** The PCRs after it, by index, of a TPM that was reset before. */
  readonly pcrs: Readonly<Partial<Record<LabBank, ReadonlyMap<number, Uint8Array>>>>;
}

interface Event {
  readonly pcr: number;
  readonly type: number;
  readonly data: Uint8Array;
  /** What is hashed, where it is not the data. */
  readonly hashed?: Uint8Array;
}

const EFI_CERT_SHA256 = "c1c41626-504c-4092-aca9-41f936934328";
const OWNER = "77fa9abd-0359-4d32-bd60-28f4e78f784b";
const DIGEST_BYTES: Readonly<Record<LabBank, number>> = { sha1: 20, sha256: 32, sha384: 48 };
const NO_DIGEST = 20;
const LOAD_OPTIONS_EVENT_ID = 0x8f3b22ed;

/** Measures a boot as UEFI firmware and the kernel's stub do. @see TCG PC Client Platform Firmware Profile, 3.3.4 */
export function measureBoot(boot: Boot): Measured {
  const banks = boot.banks ?? ["sha256"];
  const log = [specIdEvent(banks)];
  const extended: Extend[] = [];
  const layout = tcgPcrEvent2(banks.map((bank) => HASH_ALGORITHMS[bank]));
  for (const event of eventsOf(boot)) {
    const digests: Partial<Record<LabBank, Uint8Array>> = {};
    for (const bank of banks) digests[bank] = digestOf(bank, event);
    const list = banks.map((bank) => ({ algorithmId: HASH_ALGORITHMS[bank], digest: digestOf(bank, event) }));
    log.push(encode(layout, { pcrIndex: event.pcr, eventType: event.type, digests: list, event: event.data }));
    if (event.type !== EV.EV_NO_ACTION) extended.push({ pcr: event.pcr, digests });
  }
  return {
    eventLog: new Uint8Array(Buffer.concat(log)),
    extends: extended,
    pcrs: Object.fromEntries(banks.map((bank) => [bank, replayed(bank, extended)])),
  };
}

function digestOf(bank: LabBank, event: Event): Uint8Array {
  if (event.type === EV.EV_NO_ACTION) return new Uint8Array(DIGEST_BYTES[bank]);
  return hash(bank, event.hashed ?? event.data);
}

function replayed(bank: LabBank, extended: readonly Extend[]): Map<number, Uint8Array> {
  const pcrs = new Map<number, Uint8Array>();
  for (const { pcr, digests } of extended) {
    const before = pcrs.get(pcr) ?? new Uint8Array(DIGEST_BYTES[bank]);
    const digest = digests[bank];
    if (digest !== undefined) pcrs.set(pcr, hash(bank, before, digest));
  }
  return pcrs;
}

function specIdEvent(banks: readonly LabBank[]): Uint8Array {
  const event = encode(TCG_EFI_SPEC_ID_EVENT, {
    signature: SPEC_ID_SIGNATURE,
    platformClass: 0,
    specVersionMinor: 0,
    specVersionMajor: 2,
    specErrata: 105,
    uintnSize: 2,
    algorithms: banks.map((bank) => ({ algorithmId: HASH_ALGORITHMS[bank], digestSize: DIGEST_BYTES[bank] })),
    vendorInfo: new Uint8Array(0),
  });
  const head = { pcrIndex: 0, eventType: EV.EV_NO_ACTION, digest: new Uint8Array(NO_DIGEST) };
  return encode(TCG_PCR_EVENT, { ...head, event });
}

function eventsOf(boot: Boot): Event[] {
  const owned = (certificate: Uint8Array) => Buffer.concat([guidBytes(OWNER), certificate]);
  const db = Buffer.concat(boot.dbCertificates.map((one) => signatureList(one, GUID.EFI_CERT_X509)));
  const variables = [
    config("SecureBoot", GUID.EFI_GLOBAL_VARIABLE, boot.secureBoot ? Uint8Array.of(1) : new Uint8Array(0)),
    config("PK", GUID.EFI_GLOBAL_VARIABLE, db),
    config("KEK", GUID.EFI_GLOBAL_VARIABLE, db),
    config("db", GUID.EFI_IMAGE_SECURITY_DATABASE, db),
    config(
      "dbx",
      GUID.EFI_IMAGE_SECURITY_DATABASE,
      signatureList(hash("sha256", text("a revoked loader")), EFI_CERT_SHA256),
    ),
  ];
  const separators = Array.from({ length: 8 }, (_, pcr): Event => {
    return { pcr, type: EV.EV_SEPARATOR, data: encode(EV_SEPARATOR_DATA, { value: NORMAL_SEPARATOR }) };
  });
  const authority: Event = {
    pcr: 7,
    type: EV.EV_EFI_VARIABLE_AUTHORITY,
    data: variable("db", GUID.EFI_IMAGE_SECURITY_DATABASE, owned(boot.authority)),
  };
  return [
    { pcr: 0, type: EV.EV_NO_ACTION, data: encode(STARTUP_LOCALITY, startupLocality(0)) },
    { pcr: 0, type: EV.EV_S_CRTM_VERSION, data: utf16("lab firmware 1.0") },
    { pcr: 0, type: EV.EV_EFI_PLATFORM_FIRMWARE_BLOB, data: new Uint8Array(16), hashed: text("lab firmware volume") },
    { pcr: 1, type: EV.EV_EFI_HANDOFF_TABLES, data: new Uint8Array(8), hashed: text("lab SMBIOS tables") },
    { pcr: 2, type: EV.EV_EFI_BOOT_SERVICES_DRIVER, data: new Uint8Array(32), hashed: text("lab NIC option ROM") },
    ...variables,
    { pcr: 4, type: EV.EV_EFI_ACTION, data: text("Calling EFI Application from Boot Option") },
    ...separators,
    ...(boot.secureBoot ? [authority] : []),
    { pcr: 4, type: EV.EV_EFI_BOOT_SERVICES_APPLICATION, data: new Uint8Array(32), hashed: text(boot.commandLine) },
    loadOptionsEvent(boot.commandLine),
  ];
}

/** The stub's tagged event: the digest is of the options, the data only names what was measured. */
function loadOptionsEvent(commandLine: string): Event {
  const name = text("LOADED_IMAGE::LoadOptions\0");
  const head = Buffer.alloc(8);
  head.writeUInt32LE(LOAD_OPTIONS_EVENT_ID, 0);
  head.writeUInt32LE(name.length, 4);
  return { pcr: 9, type: EV.EV_EVENT_TAG, data: Buffer.concat([head, name]), hashed: utf16(commandLine) };
}

function config(name: string, vendor: string, value: Uint8Array): Event {
  return { pcr: 7, type: EV.EV_EFI_VARIABLE_DRIVER_CONFIG, data: variable(name, vendor, value) };
}

function variable(unicodeName: string, vendor: string, variableData: Uint8Array): Uint8Array {
  return encode(UEFI_VARIABLE_DATA, { vendorGuid: guidBytes(vendor), unicodeName, variableData });
}

/** EFI_SIGNATURE_LIST of one entry. */
function signatureList(entry: Uint8Array, type: string): Uint8Array {
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32LE(28 + 16 + entry.length, 0);
  sizes.writeUInt32LE(16 + entry.length, 8);
  return Buffer.concat([guidBytes(type), sizes, guidBytes(OWNER), entry]);
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/** UTF-16LE with its terminating NUL. */
function utf16(value: string): Uint8Array {
  return Buffer.from(`${value}\0`, "utf16le");
}

function hash(bank: LabBank, ...parts: readonly Uint8Array[]): Uint8Array {
  const state = createHash(bank);
  for (const part of parts) state.update(part);
  return new Uint8Array(state.digest());
}
