import { FormatError } from "../formats/error.ts";
import { fromBase64 } from "./hex.ts";

/** What the agent says of itself; the AK signed it through the quote's qualifyingData, so it is that TPM's word. */
export interface Report {
  /** Lower case, colons. */
  readonly mac: string;
  /** The whole Ethernet frame, or null where none was heard. */
  readonly lldp: Uint8Array | null;
  readonly hookosVersion: string;
  readonly commandLine: string;
  readonly clock: string;
  readonly uuid: string;
}

const MAX_TEXT_CHARACTERS = 4096;
/** One machine's address: neither a group's nor all zeros. */
const MAC = /^(?!00(:00){5})[0-9a-f][02468ace](:[0-9a-f]{2}){5}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads the report's decoded bytes; unknown fields are ignored.
 * @throws FormatError
 * @see spec/10-protocol.md section 2
 */
export function readReport(bytes: Uint8Array): Report {
  const fields = jsonObject(bytes);
  const lldp = fields.lldp;
  const frame = typeof lldp === "string" ? fromBase64(lldp) : null;
  if (lldp !== null && frame === null) throw invalid("lldp");
  return {
    mac: text(fields, "mac", MAC),
    lldp: frame,
    hookosVersion: text(fields, "hookosVersion", null),
    commandLine: text(fields, "commandLine", null),
    clock: text(fields, "clock", RFC3339),
    uuid: text(fields, "uuid", UUID),
  };
}

/**
 * The command line alone, as a renewal's report gives it.
 * @throws FormatError
 */
export function readCommandLine(bytes: Uint8Array): string {
  return text(jsonObject(bytes), "commandLine", null);
}

function jsonObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new FormatError("inconsistent", "report", 0, "not JSON in UTF-8");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("");
  return value as Record<string, unknown>;
}

function text(fields: Readonly<Record<string, unknown>>, name: string, pattern: RegExp | null): string {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof value !== "string" || value.length > MAX_TEXT_CHARACTERS) throw invalid(name);
  if (pattern && !pattern.test(value)) throw invalid(name);
  return value;
}

function invalid(name: string): FormatError {
  return new FormatError("inconsistent", name ? `report.${name}` : "report", 0);
}
