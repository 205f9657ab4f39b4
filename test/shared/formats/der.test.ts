import { describe, expect, test } from "vitest";
import { childrenOf, der, expectTag, oidText, readDer, readDerPrefix, TAG } from "../../../shared/formats/der.ts";
import {
  bitString,
  explicit,
  implicit,
  nullValue,
  octetString,
  oid,
  printableString,
  sequence,
  unsignedInteger,
  utf8String,
} from "../../../shared/formats/der-write.ts";
import { readTime, writeTime } from "../../../shared/formats/x509/time.ts";
import { hex } from "../../vectors/read.ts";
import { refusedAs } from "./five-parts.ts";

test("elements are written as X.690 says", () => {
  expect(hex(sequence(nullValue(), octetString(Uint8Array.of(1))))).toBe("30050500040101");
  expect(hex(unsignedInteger(Uint8Array.of(0, 0, 0x80)))).toBe("02020080");
  expect(hex(unsignedInteger(Uint8Array.of(0)))).toBe("020100");
  expect(hex(unsignedInteger(new Uint8Array(0)))).toBe("020100");
  expect(hex(oid("1.2.840.113549.1.1.11"))).toBe("06092a864886f70d01010b");
  expect(hex(oid("2.23.133.8.1"))).toBe("06056781050801");
  expect(hex(oid("2.999.3"))).toBe("0603883703");
  expect(hex(bitString(Uint8Array.of(0x80), 7))).toBe("03020780");
  expect(hex(utf8String("é"))).toBe("0c02c3a9");
  expect(hex(printableString("A-1"))).toBe("1303412d31");
  expect(hex(printableString("a_b"))).toBe("0c03615f62");
  expect(hex(explicit(3, nullValue()))).toBe("a3020500");
  expect(hex(implicit(6, Uint8Array.of(1)))).toBe("860101");
});

test.each([0, 1, 127, 128, 255, 256, 65_535, 65_536])("%i bytes are read back", (length) => {
  const contents = new Uint8Array(length).fill(7);
  const element = readDer(der(TAG.OCTET_STRING, contents), "x");
  expect([element.tag, element.contents.length]).toEqual([TAG.OCTET_STRING, length]);
});

test.each(["1.2.840.113549.1.1.11", "2.5.4.3", "0.9.2342", "2.999.3"])("the text of %s is read back", (text) => {
  expect(oidText(readDer(oid(text), "x"), "x")).toBe(text);
});

describe("what is refused, and as what", () => {
  const cases: [string, string, number[]][] = [
    ["nothing", "truncated", []],
    ["a tag alone", "truncated", [0x30]],
    ["a length of more octets than there are", "truncated", [0x30, 0x82, 0x01]],
    ["fewer contents than the length", "truncated", [0x30, 0x02, 0x05]],
    ["a byte behind the element", "trailing", [0x05, 0x00, 0x00]],
    ["an indefinite length", "not-canonical", [0x30, 0x80, 0x00, 0x00]],
    ["a length of five octets", "out-of-bounds", [0x30, 0x85, 0, 0, 0, 0, 0]],
    ["a tag of several octets", "unknown-value", [0x1f, 0x81, 0x01, 0x00]],
  ];
  test.each(cases)("%s: %s", (_, code, bytes) => {
    expect(refusedAs(() => readDer(Uint8Array.from(bytes), "x"))).toBe(code);
  });
  test("the children of what has none, another tag, a missing field, an arc that is padded or cut", () => {
    const element = readDer(nullValue(), "x");
    expect(refusedAs(() => childrenOf(element, "x"))).toBe("unknown-value");
    expect(refusedAs(() => expectTag(element, TAG.INTEGER, "x"))).toBe("unknown-value");
    expect(refusedAs(() => expectTag(undefined, TAG.INTEGER, "x"))).toBe("truncated");
    expect(refusedAs(() => oidText(readDer(Uint8Array.of(6, 2, 0x80, 1), "x"), "x"))).toBe("not-canonical");
    expect(refusedAs(() => oidText(readDer(Uint8Array.of(6, 2, 0x2a, 0x81), "x"), "x"))).toBe("truncated");
    expect(refusedAs(() => oidText(readDer(Uint8Array.of(6, 0), "x"), "x"))).toBe("truncated");
  });
  test("a needless zero in a length is read, since certificates in TPMs have it", () => {
    expect(readDerPrefix(Uint8Array.of(4, 0x82, 0, 1, 9), "x").contents).toEqual(Uint8Array.of(9));
  });
  test("a child's place is told from the start of what was read", () => {
    const [, second] = childrenOf(readDer(sequence(nullValue(), octetString(Uint8Array.of(1))), "x"), "x");
    expect(second?.offset).toBe(4);
  });
});

describe("times", () => {
  const dates = ["1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "2000-02-29T12:00:00Z", "2026-11-29T20:50:24Z"];
  const late = ["2049-12-31T23:59:59Z", "2050-01-01T00:00:00Z", "2100-02-28T00:00:00Z", "9999-12-31T23:59:59Z"];
  test.each([...dates, ...late])("%s is written and read back", (text) => {
    const written = readDer(writeTime(Date.parse(text)), "time");
    expect(written.tag).toBe(
      Date.parse(text) < Date.parse("2050-01-01T00:00:00Z") ? TAG.UTC_TIME : TAG.GENERALIZED_TIME,
    );
    expect(readTime(written, "time")).toBe(Date.parse(text));
  });
  test.each(["991332000000Z", "990230000000Z", "990101240000Z", "9901010000", "hello"])("%s is no time", (text) => {
    const element = readDer(der(TAG.UTC_TIME, new TextEncoder().encode(text)), "time");
    expect(refusedAs(() => readTime(element, "time"))).not.toBe("accepted");
  });
  test("a number is no time", () =>
    expect(refusedAs(() => readTime(readDer(nullValue(), "t"), "t"))).toBe("unknown-value"));
});
