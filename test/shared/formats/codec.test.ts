import { describe, expect, test } from "vitest";
import {
  bits,
  bytes,
  decode,
  encode,
  joined,
  list,
  oneOf,
  sized,
  sizedOf,
  struct,
  tagged,
  u8,
  u16be,
  u16le,
  u32be,
  u32le,
  u64be,
  u64le,
} from "../../../shared/formats/codec.ts";
import { FormatError } from "../../../shared/formats/error.ts";
import { fiveParts, refusedAs } from "./five-parts.ts";

const shape = struct({
  big: struct({ a: u16be, b: u32be, c: u64be }),
  little: struct({ a: u16le, b: u32le, c: u64le }),
  fixed: bytes(2),
  counted: sized(u8, 4),
  items: list(u8, u16be, 3),
  inner: sizedOf(u16be, struct({ x: u8 })),
  flags: bits(u8, { low: 0, high: 7 }),
  choice: tagged("kind", u8, { 1: struct({ one: u8 }), 2: struct({ two: u16be }) }),
});
const value = {
  big: { a: 0x0102, b: 0x8090a0b0, c: 0xf000000000000001n },
  little: { a: 0x0102, b: 0x8090a0b0, c: 0xf000000000000001n },
  fixed: Uint8Array.of(7, 8),
  counted: Uint8Array.of(9),
  items: [1, 2],
  inner: { x: 5 },
  flags: { low: true, high: true },
  choice: { kind: 2 as const, two: 0x0304 },
};
const wire = Uint8Array.from([
  ...[1, 2, 0x80, 0x90, 0xa0, 0xb0, 0xf0, 0, 0, 0, 0, 0, 0, 1],
  ...[2, 1, 0xb0, 0xa0, 0x90, 0x80, 1, 0, 0, 0, 0, 0, 0, 0xf0],
  ...[7, 8],
  ...[1, 9],
  ...[2, 0, 1, 0, 2],
  ...[0, 1, 5],
  0x81,
  ...[2, 3, 4],
]);

fiveParts("every kind of layout", shape, { "a value by hand": wire });

test("the values are those of the bytes", () => {
  expect(decode(shape, wire, "shape")).toEqual(value);
  expect(encode(shape, value)).toEqual(wire);
});

test("joined fields stand in one value, one after the other", () => {
  const layout = joined(struct({ a: u8 }), struct({ b: u8 }));
  expect(decode(layout, Uint8Array.of(1, 2), "joined")).toEqual({ a: 1, b: 2 });
  expect(encode(layout, { a: 1, b: 2 })).toEqual(Uint8Array.of(1, 2));
});

describe("what is refused, and as what", () => {
  const cases: [string, string, () => unknown][] = [
    ["more bytes than the bound", "out-of-bounds", () => decode(sized(u8, 2), Uint8Array.of(3, 1, 2, 3), "s")],
    ["more items than the bound", "out-of-bounds", () => decode(list(u8, u8, 1), Uint8Array.of(2, 1, 2), "l")],
    [
      "a count beyond memory",
      "out-of-bounds",
      () => decode(list(u32be, u8, 9), Uint8Array.of(255, 255, 255, 255), "l"),
    ],
    [
      "a byte left in a sized structure",
      "trailing",
      () => decode(sizedOf(u8, struct({ x: u8 })), Uint8Array.of(2, 1, 2), "s"),
    ],
    ["an unknown selector", "unknown-value", () => decode(tagged("t", u8, { 1: struct({}) }), Uint8Array.of(3), "t")],
    ["a value outside a closed set", "unknown-value", () => decode(oneOf(u8, [0, 1]), Uint8Array.of(2), "o")],
    ["a bit without a name", "reserved-bits", () => decode(bits(u8, { a: 0 }), Uint8Array.of(3), "b")],
    ["a number that does not fit its field", "out-of-bounds", () => encode(u8, 256)],
    ["a fraction", "out-of-bounds", () => encode(u16be, 1.5)],
    ["a negative u64", "out-of-bounds", () => encode(u64be, -1n)],
    ["too few bytes for a fixed field", "out-of-bounds", () => encode(bytes(2), Uint8Array.of(1))],
    ["too many bytes for a sized field", "out-of-bounds", () => encode(sized(u8, 1), Uint8Array.of(1, 2))],
    ["too many items", "out-of-bounds", () => encode(list(u8, u8, 1), [1, 2])],
  ];
  test.each(cases)("%s: %s", (_, code, read) => {
    expect(refusedAs(read)).toBe(code);
  });
});

test("an error says which field of which structure, and where", () => {
  const layout = struct({ head: u8, items: list(u8, struct({ x: u16be }), 4) });
  try {
    decode(layout, Uint8Array.of(1, 2, 0, 1, 0), "OUTER");
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError);
    if (!(error instanceof FormatError)) return;
    expect([error.code, error.structure, error.offset]).toEqual(["truncated", "OUTER.items.[1].x", 4]);
  }
});
