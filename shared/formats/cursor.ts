import { FormatError, type FormatErrorCode } from "./error.ts";

/** Where a read stands: never past `end`, and always able to say which structure it is in. */
export class ReadCursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  offset: number;
  private readonly structure: string;
  // The path is put together only when it is told: a log of thousands of records would make tens of thousands.
  private names: (string | number)[] | null = null;

  constructor(bytes: Uint8Array, structure: string, offset = 0, end = bytes.length) {
    this.bytes = bytes;
    this.structure = structure;
    this.offset = offset;
    this.end = end;
  }

  take(length: number): Uint8Array {
    const start = this.advance(length);
    return this.bytes.subarray(start, start + length);
  }

  /** Passes over so many bytes. @returns where they start */
  advance(length: number): number {
    const start = this.offset;
    if (length > this.end - start) throw this.fail("truncated", `${length} bytes wanted`);
    this.offset = start + length;
    return start;
  }

  /** Names the field, or the item of a list, that is read until `leave`. */
  enter(name: string | number): void {
    if (this.names) this.names.push(name);
    else this.names = [name];
  }

  leave(): void {
    this.names?.pop();
  }

  get path(): string {
    return [this.structure, ...(this.names ?? []).map((name) => (typeof name === "number" ? `[${name}]` : name))].join(
      ".",
    );
  }

  fail(code: FormatErrorCode, detail?: string, offset = this.offset): FormatError {
    return new FormatError(code, this.path, offset, detail);
  }
}

/** The bytes up to the last that is not zero. An expression like `\0+$` would look at each run of zeros once a zero. */
export function withoutTrailingZeros(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}

/** Where writes gather. */
export class WriteCursor {
  private readonly parts: Uint8Array[] = [];
  private length = 0;

  put(bytes: Uint8Array): void {
    this.parts.push(bytes);
    this.length += bytes.length;
  }

  bytes(): Uint8Array {
    const joined = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }
}
