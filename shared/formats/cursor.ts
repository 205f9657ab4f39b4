import { FormatError, type FormatErrorCode } from "./error.ts";

/** Where a read stands: never past `end`, and always able to say which structure it is in. */
export class ReadCursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  offset: number;
  path: string;

  constructor(bytes: Uint8Array, path: string, offset = 0, end = bytes.length) {
    this.bytes = bytes;
    this.path = path;
    this.offset = offset;
    this.end = end;
  }

  take(length: number): Uint8Array {
    if (length > this.end - this.offset) throw this.fail("truncated", `${length} bytes wanted`);
    const taken = this.bytes.subarray(this.offset, this.offset + length);
    this.offset += length;
    return taken;
  }

  within<T>(name: string, read: () => T): T {
    const outer = this.path;
    this.path = `${outer}.${name}`;
    const value = read();
    this.path = outer;
    return value;
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
