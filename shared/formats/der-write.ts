import { der, TAG } from "./der.ts";

/** SEQUENCE. */
export function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return der(TAG.SEQUENCE, ...parts);
}

/** INTEGER of an unsigned number: leading zeros go, a sign octet comes where the top bit is set. */
export function unsignedInteger(value: Uint8Array): Uint8Array {
  let start = 0;
  while (start < value.length - 1 && value[start] === 0) start++;
  const digits = value.subarray(start);
  const first = digits[0];
  if (first === undefined) return der(TAG.INTEGER, Uint8Array.of(0));
  return first >= 0x80 ? der(TAG.INTEGER, Uint8Array.of(0), digits) : der(TAG.INTEGER, digits);
}

/** OBJECT IDENTIFIER of a dotted text. */
export function oid(text: string): Uint8Array {
  const [top = 0, second = 0, ...others] = text.split(".").map(Number);
  const octets: number[] = [];
  for (const arc of [top * 40 + second, ...others]) {
    const digits = [arc % 128];
    for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) | 0x80);
    octets.push(...digits);
  }
  return der(TAG.OID, Uint8Array.from(octets));
}

/** BIT STRING of whole octets, or with the last `unusedBits` of them not counted. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Uint8Array {
  return der(TAG.BIT_STRING, Uint8Array.of(unusedBits), bytes);
}

/** OCTET STRING. */
export function octetString(bytes: Uint8Array): Uint8Array {
  return der(TAG.OCTET_STRING, bytes);
}

/** NULL. */
export function nullValue(): Uint8Array {
  return der(TAG.NULL);
}

/** UTF8String. */
export function utf8String(text: string): Uint8Array {
  return der(TAG.UTF8_STRING, new TextEncoder().encode(text));
}

/** PrintableString where every character is one, UTF8String otherwise. */
export function printableString(text: string): Uint8Array {
  if (!/^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text)) return utf8String(text);
  return der(TAG.PRINTABLE_STRING, new TextEncoder().encode(text));
}

/** A constructed, context-specific element around whole elements. */
export function explicit(number: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return der(0xa0 | number, ...parts);
}

/** A primitive, context-specific element. */
export function implicit(number: number, contents: Uint8Array): Uint8Array {
  return der(0x80 | number, contents);
}
