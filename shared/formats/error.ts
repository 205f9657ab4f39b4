export type FormatErrorCode =
  | "truncated"
  | "trailing"
  | "out-of-bounds"
  | "unknown-value"
  | "reserved-bits"
  | "not-canonical"
  | "inconsistent";

/** Bytes that are not what their format says: which structure, where, and how. */
export class FormatError extends Error {
  override readonly name = "FormatError";
  readonly code: FormatErrorCode;
  /** The path of the structure and field, as the specification spells them. */
  readonly structure: string;
  /** The byte offset from the start of what was decoded. */
  readonly offset: number;

  constructor(code: FormatErrorCode, structure: string, offset: number, detail?: string) {
    super(`${structure}: ${code} at byte ${offset}${detail ? ` (${detail})` : ""}`);
    this.code = code;
    this.structure = structure;
    this.offset = offset;
  }
}
