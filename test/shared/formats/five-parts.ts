import { expect, test } from "vitest";
import { decode, encode, type Layout } from "../../../shared/formats/codec.ts";
import { FormatError } from "../../../shared/formats/error.ts";

/** What a read of these bytes is refused as, or "accepted". */
export function refusedAs(read: () => unknown): string {
  try {
    read();
    return "accepted";
  } catch (error) {
    if (error instanceof FormatError) return error.code;
    throw error;
  }
}

/** The parts of a parser's test that are alike for every layout; the values' own asserts stand beside it. */
export function fiveParts<T>(
  structure: string,
  layout: Layout<T>,
  vectors: Readonly<Record<string, Uint8Array>>,
): void {
  for (const [name, bytes] of Object.entries(vectors)) {
    test(`${structure} of ${name}: read, and written back to the same bytes`, () => {
      expect(Buffer.from(encode(layout, decode(layout, bytes, structure)))).toEqual(Buffer.from(bytes));
    });
    test(`${structure} of ${name}: every prefix is refused as truncated`, () => {
      for (let length = 0; length < bytes.length; length++) {
        expect(
          refusedAs(() => decode(layout, bytes.subarray(0, length), structure)),
          `${length} bytes`,
        ).toBe("truncated");
      }
    });
    test(`${structure} of ${name}: a trailing byte is refused`, () => {
      const longer = Uint8Array.from([...bytes, 0]);
      expect(refusedAs(() => decode(layout, longer, structure))).toBe("trailing");
    });
  }
}
