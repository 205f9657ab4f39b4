import { FormatError } from "./error.ts";

/** One DER element: its contents, and the bytes as they were received. */
export interface Der {
  readonly tag: number;
  readonly contents: Uint8Array;
  readonly raw: Uint8Array;
  /** Where the element starts in what was read. */
  readonly offset: number;
}

export const TAG = {
  BOOLEAN: 0x01,
  INTEGER: 0x02,
  BIT_STRING: 0x03,
  OCTET_STRING: 0x04,
  NULL: 0x05,
  OID: 0x06,
  UTF8_STRING: 0x0c,
  PRINTABLE_STRING: 0x13,
  T61_STRING: 0x14,
  IA5_STRING: 0x16,
  UTC_TIME: 0x17,
  GENERALIZED_TIME: 0x18,
  BMP_STRING: 0x1e,
  SEQUENCE: 0x30,
  SET: 0x31,
} as const;

/**
 * Reads one element from the start of the bytes; what follows it is the caller's.
 * Lengths with needless zero octets are read, since certificates that have them are in TPMs; indefinite ones are not.
 * @throws FormatError
 * @see ITU-T X.690 section 8.1
 */
export function readDerPrefix(bytes: Uint8Array, structure: string, offset = 0): Der {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) throw new FormatError("truncated", structure, offset + bytes.length);
  if ((tag & 0x1f) === 0x1f) throw new FormatError("unknown-value", structure, offset, "a tag of several octets");
  let head = 2;
  let length = first;
  if (first >= 0x80) {
    const octets = first & 0x7f;
    if (octets === 0) throw new FormatError("not-canonical", structure, offset + 1, "indefinite length");
    if (octets > 4) throw new FormatError("out-of-bounds", structure, offset + 1, "length of more than four octets");
    length = 0;
    for (let i = 0; i < octets; i++) {
      const octet = bytes[2 + i];
      if (octet === undefined) throw new FormatError("truncated", structure, offset + bytes.length);
      length = length * 256 + octet;
    }
    head += octets;
  }
  if (length > bytes.length - head)
    throw new FormatError("truncated", structure, offset + head, `${length} bytes wanted`);
  return { tag, contents: bytes.subarray(head, head + length), raw: bytes.subarray(0, head + length), offset };
}

/**
 * Reads one element that is all of the bytes.
 * @throws FormatError
 */
export function readDer(bytes: Uint8Array, structure: string): Der {
  const element = readDerPrefix(bytes, structure);
  if (element.raw.length !== bytes.length) throw new FormatError("trailing", structure, element.raw.length);
  return element;
}

/** More elements than anything here has in one: an element of two bytes would be kept as an object of a hundred. */
const MAX_CHILDREN = 4096;

/**
 * The elements inside a constructed one.
 * @throws FormatError
 */
export function childrenOf(parent: Der, structure: string): Der[] {
  if ((parent.tag & 0x20) === 0) throw new FormatError("unknown-value", structure, parent.offset, "not constructed");
  const children: Der[] = [];
  const start = parent.offset + parent.raw.length - parent.contents.length;
  for (let at = 0; at < parent.contents.length; ) {
    const child = readDerPrefix(parent.contents.subarray(at), structure, start + at);
    if (children.length === MAX_CHILDREN) throw new FormatError("out-of-bounds", structure, start + at, "elements");
    children.push(child);
    at += child.raw.length;
  }
  return children;
}

/**
 * An element, checked for its tag.
 * @throws FormatError
 */
export function expectTag(element: Der | undefined, tag: number, structure: string): Der {
  if (!element) throw new FormatError("truncated", structure, 0, "a field is missing");
  if (element.tag !== tag) {
    throw new FormatError("unknown-value", structure, element.offset, `tag 0x${element.tag.toString(16)}`);
  }
  return element;
}

/**
 * The dotted text of an OBJECT IDENTIFIER.
 * @throws FormatError
 */
export function oidText(element: Der, structure: string): string {
  const { contents } = expectTag(element, TAG.OID, structure);
  // Before the arithmetic: an arc of a megabyte would take minutes.
  if (contents.length > 64) throw new FormatError("out-of-bounds", structure, element.offset, "object identifier");
  const arcs: (number | bigint)[] = [];
  let value: number | bigint = 0;
  let open = false;
  for (const octet of contents) {
    if (!open && octet === 0x80) throw new FormatError("not-canonical", structure, element.offset, "padded arc");
    const digit = octet & 0x7f;
    // Arcs of more than 52 bits are lawful (a UUID is one) and rare.
    if (typeof value === "number" && value < 2 ** 45) value = value * 128 + digit;
    else value = (BigInt(value) << 7n) | BigInt(digit);
    open = (octet & 0x80) !== 0;
    if (!open) {
      arcs.push(value);
      value = 0;
    }
  }
  const first = arcs[0];
  if (open || first === undefined) {
    throw new FormatError("truncated", structure, element.offset, "object identifier");
  }
  const top = first < 80 ? Math.floor(Number(first) / 40) : 2;
  const second = typeof first === "number" ? first - top * 40 : first - 80n;
  return [top, second, ...arcs.slice(1)].join(".");
}

/** Bytes as the characters of the same numbers. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

/** Writes one element around its parts. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = [tag];
  if (length < 0x80) head.push(length);
  else if (length < 0x100) head.push(0x81, length);
  else if (length < 0x10000) head.push(0x82, length >> 8, length & 0xff);
  else if (length < 0x1000000) head.push(0x83, length >> 16, (length >> 8) & 0xff, length & 0xff);
  else head.push(0x84, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff);
  const out = new Uint8Array(head.length + length);
  out.set(head);
  let at = head.length;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
