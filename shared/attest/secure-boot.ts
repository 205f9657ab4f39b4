import { digestHex, type HashName } from "../crypto/hash.ts";
import { decode, decodePrefix } from "../formats/codec.ts";
import { FormatError } from "../formats/error.ts";
import { GUID, guidText } from "../formats/eventlog/efi-guid.ts";
import { certificatesOf, readSignatureLists } from "../formats/eventlog/efi-signature-list.ts";
import { EV, eventTypeName } from "../formats/eventlog/event-types.ts";
import { actionText, PCR7_ACTIONS } from "../formats/eventlog/events/efi-action.ts";
import { UEFI_VARIABLE_DATA } from "../formats/eventlog/events/efi-variable.ts";
import { EV_SEPARATOR_DATA, NORMAL_SEPARATOR } from "../formats/eventlog/events/separator.ts";
import type { EventLog, EventRecord } from "../formats/eventlog/log.ts";
import { HASH_ALGORITHMS } from "../formats/tpm2/algorithms.ts";
import { type AuthorityEvent, readAuthority } from "./authority.ts";
import { toHex } from "./hex.ts";
import type { LogProblem } from "./replay.ts";

/** What PCR 7 proves, and every reason not to believe it. */
export interface SecureBootFacts {
  /** null: nothing in the log proves it. */
  readonly secureBoot: boolean | null;
  readonly authorities: readonly AuthorityEvent[];
  /** SHA-256 of every certificate in the measured db. */
  readonly dbCertificates: ReadonlySet<string>;
  readonly dbxHash: string | null;
  readonly sbatLevel: string | null;
  /** Known EV_EFI_ACTION texts, each of which says that a protection was off. */
  readonly actions: readonly { readonly text: string; readonly record: EventRecord }[];
  readonly problems: readonly LogProblem[];
}

const GLOBAL = GUID.EFI_GLOBAL_VARIABLE;
const DATABASE = GUID.EFI_IMAGE_SECURITY_DATABASE;
const REQUIRED = [`SecureBoot@${GLOBAL}`, `PK@${GLOBAL}`, `KEK@${GLOBAL}`, `db@${DATABASE}`, `dbx@${DATABASE}`];

/** Data of shim's that is measured beside its keys and is none; under another GUID it is a name that nobody knows. */
const SHIM_DATA: readonly string[] = [`SbatLevel@${GUID.SHIM_LOCK}`, `MokListTrusted@${GUID.SHIM_LOCK}`];

/**
 * Reads PCR 7 of a log in one bank: every event must be one of the known kinds, and its data what its digest is of.
 * @see TCG PC Client Platform Firmware Profile, 3.3.4.8; spec/20-verification.md "PCR 7 and boot policy"
 */
export function secureBootFacts(log: EventLog, bank: HashName): SecureBootFacts {
  const reader = new Pcr7Reader(bank);
  for (const record of log.records) reader.take(record);
  return reader.facts();
}

const SHIM_PADDING_BYTES = 5;

/** Variables, authorities, actions and faults: more than firmware, shim and loader measure together, many times over. */
const MAX_FINDINGS = 1024;

class Pcr7Reader {
  private readonly bank: HashName;
  private readonly variables = new Map<string, Uint8Array>();
  private readonly authorities: AuthorityEvent[] = [];
  private readonly actions: { text: string; record: EventRecord }[] = [];
  private readonly problems: LogProblem[] = [];
  private separators = 0;
  private overfull = false;
  private sbatLevel: string | null = null;

  constructor(bank: HashName) {
    this.bank = bank;
  }

  take(record: EventRecord): void {
    if (this.overfull) return;
    const findings = this.variables.size + this.authorities.length + this.actions.length + this.problems.length;
    if (findings >= MAX_FINDINGS) {
      // A verdict of a hundred thousand faults says no more than this one, and would be kept and sent.
      this.overfull = true;
      this.report("secure-boot-mismatch", record, `more than ${MAX_FINDINGS} things to say of this log`);
      return;
    }
    if (record.pcrIndex === 14) this.shimLog(record);
    if (record.untrustedType === EV.EV_NO_ACTION) return;
    if (record.pcrIndex !== 7) {
      if (record.untrustedType === EV.EV_EFI_VARIABLE_AUTHORITY) {
        this.report("authority-not-accepted", record, `an authority event in PCR ${record.pcrIndex}`);
      }
      return;
    }
    const data = this.provenData(record);
    if (!data) {
      this.report(
        "event-log-mismatch",
        record,
        `${eventTypeName(record.untrustedType)}: the data is not what its digest is of`,
      );
      return;
    }
    try {
      this.proven(record, data);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.report("secure-boot-mismatch", record, `${eventTypeName(record.untrustedType)}: ${error.message}`);
    }
  }

  facts(): SecureBootFacts {
    const missing = REQUIRED.filter((name) => !this.variables.has(name)).map((name) => name.split("@")[0]);
    if (missing.length > 0)
      this.report("secure-boot-mismatch", null, `not measured before the separator: ${missing.join(", ")}`);
    if (this.separators !== 1) {
      this.report("secure-boot-mismatch", null, `${this.separators} separators in PCR 7, exactly one expected`);
    }
    const dbx = this.variables.get(`dbx@${DATABASE}`);
    return {
      secureBoot: this.state(),
      authorities: this.authorities,
      dbCertificates: this.databaseCertificates(),
      dbxHash: dbx ? digestHex("sha256", dbx) : null,
      sbatLevel: this.sbatLevel,
      actions: this.actions,
      problems: this.problems,
    };
  }

  // Shim up to 15.x logs one byte more than it measures, in its own authority events alone: those after the separator.
  private provenData(record: EventRecord): Uint8Array | null {
    const measured = record.digest(HASH_ALGORITHMS[this.bank]);
    if (!measured) return null;
    const { untrustedData } = record;
    const expected = toHex(measured);
    if (digestHex(this.bank, untrustedData) === expected) return untrustedData;
    const shims = record.untrustedType === EV.EV_EFI_VARIABLE_AUTHORITY && this.separators > 0;
    const shorter = untrustedData.subarray(0, Math.max(0, untrustedData.length - 1));
    return shims && digestHex(this.bank, shorter) === expected ? shorter : null;
  }

  private proven(record: EventRecord, data: Uint8Array): void {
    switch (record.untrustedType) {
      case EV.EV_SEPARATOR: {
        const { value } = decode(EV_SEPARATOR_DATA, data, "EV_SEPARATOR");
        this.separators++;
        if (value !== NORMAL_SEPARATOR) this.report("secure-boot-mismatch", record, "a separator with an error value");
        return;
      }
      case EV.EV_EFI_VARIABLE_DRIVER_CONFIG:
        this.variable(record, data);
        return;
      case EV.EV_EFI_VARIABLE_AUTHORITY:
        this.authority(record, data);
        return;
      case EV.EV_EFI_ACTION: {
        const text = actionText(data);
        const known = PCR7_ACTIONS.find((one) => one === text);
        if (known === undefined) this.report("secure-boot-mismatch", record, "an action of an unknown text");
        else this.actions.push({ text: known, record });
        return;
      }
      default:
        this.report("secure-boot-mismatch", record, `${eventTypeName(record.untrustedType)} is no kind of PCR 7`);
    }
  }

  private variable(record: EventRecord, data: Uint8Array): void {
    const { vendorGuid, unicodeName, variableData } = decode(UEFI_VARIABLE_DATA, data, "UEFI_VARIABLE_DATA");
    const key = `${unicodeName}@${guidText(vendorGuid)}`;
    if (this.variables.has(key)) this.report("secure-boot-mismatch", record, `variable ${unicodeName} twice`);
    else if (this.separators > 0)
      this.report("secure-boot-mismatch", record, `variable ${unicodeName} after the separator`);
    else this.variables.set(key, variableData);
  }

  private authority(record: EventRecord, data: Uint8Array): void {
    const { value, trailing } = decodePrefix(UEFI_VARIABLE_DATA, data, "UEFI_VARIABLE_DATA");
    // The same old shims measure a structure that is padded with zeros.
    const padded = data.length < record.untrustedData.length && trailing.length <= SHIM_PADDING_BYTES;
    if (trailing.length > 0 && !(padded && trailing.every((octet) => octet === 0))) {
      throw new FormatError("trailing", "UEFI_VARIABLE_DATA", data.length - trailing.length);
    }
    const { vendorGuid, unicodeName, variableData } = value;
    if (SHIM_DATA.includes(`${unicodeName}@${guidText(vendorGuid)}`)) {
      // The first is shim's: what runs later can measure another one behind it.
      if (unicodeName === "SbatLevel") this.sbatLevel ??= digestHex("sha256", variableData);
      return;
    }
    if (unicodeName === "MokSBState") {
      if (variableData.some((octet) => octet !== 0)) this.report("validation-off", record, "shim: MokSBState is set");
      return;
    }
    this.authorities.push(readAuthority(record, unicodeName, variableData, this.separators === 0));
  }

  // Shim logs its state in PCR 14 by name; the name is under no digest, so it can only speak against the machine.
  private shimLog(record: EventRecord): void {
    const named = String.fromCharCode(...record.untrustedData.subarray(0, 10)) === "MokSBState";
    const measured = record.digest(HASH_ALGORITHMS[this.bank]);
    if (named && measured && toHex(measured) === digestHex(this.bank, Uint8Array.of(1))) {
      this.report("validation-off", record, "shim: MokSBState is set");
    }
  }

  private state(): boolean | null {
    const value = this.variables.get(REQUIRED[0] ?? "");
    if (!value) return null;
    if (value.length === 0 || (value.length === 1 && value[0] === 0)) return false;
    if (value.length === 1 && value[0] === 1) return true;
    this.report("secure-boot-mismatch", null, "SecureBoot is neither 0 nor 1");
    return null;
  }

  private databaseCertificates(): Set<string> {
    const db = this.variables.get(`db@${DATABASE}`);
    try {
      const certificates = db ? certificatesOf(readSignatureLists(db)) : [];
      return new Set(certificates.map((certificate) => digestHex("sha256", certificate)));
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.report("secure-boot-mismatch", null, `db: ${error.message}`);
      return new Set();
    }
  }

  private report(code: LogProblem["code"], record: EventRecord | null, detail: string): void {
    this.problems.push({ code, record: record?.record ?? null, offset: record?.offset ?? null, detail });
  }
}
