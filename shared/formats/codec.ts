import { ReadCursor, WriteCursor } from "./cursor.ts";
import { FormatError } from "./error.ts";

/** One wire layout: the same declaration reads and writes, and the value's type follows from it. */
export interface Layout<T> {
  read(cursor: ReadCursor): T;
  /** Passes over one value, checking all that `read` checks of it; for layouts whose values can wait. */
  skip?(cursor: ReadCursor): void;
  // A method, for its bivariance: a list of unlike fields is then a record of Layout<unknown>.
  write(out: WriteCursor, value: T): void;
}

/** A layout of named fields, which stay at hand for those that read it in part. */
export interface StructLayout<F extends Fields> extends Layout<Shape<F>> {
  readonly fields: F;
}

export type TypeOf<L> = L extends Layout<infer T> ? T : never;

export type Fields = Readonly<Record<string, Layout<unknown>>>;
type Shape<F extends Fields> = { [K in keyof F]: TypeOf<F[K]> };
type Flatten<T> = T extends unknown ? { [K in keyof T]: T[K] } : never;
type Cases = Readonly<Record<number, Layout<object>>>;
type Union<N extends string, C extends Cases> = {
  [K in keyof C & number]: Flatten<{ [P in N]: K } & TypeOf<C[K]>>;
}[keyof C & number];

/**
 * Reads exactly one value from exactly these bytes.
 * @throws FormatError
 */
export function decode<T>(layout: Layout<T>, bytes: Uint8Array, structure: string): T {
  const cursor = new ReadCursor(bytes, structure);
  const value = layout.read(cursor);
  if (cursor.offset !== bytes.length) throw cursor.fail("trailing", `${bytes.length - cursor.offset} bytes`);
  return value;
}

/**
 * Reads one value from the start of the bytes; what follows it is the caller's.
 * @throws FormatError
 */
export function decodePrefix<T>(
  layout: Layout<T>,
  bytes: Uint8Array,
  structure: string,
): { value: T; trailing: Uint8Array } {
  const cursor = new ReadCursor(bytes, structure);
  const value = layout.read(cursor);
  return { value, trailing: bytes.subarray(cursor.offset) };
}

/**
 * Writes a value as its layout says: the inverse of decode.
 * @throws FormatError when a value does not fit its field
 */
export function encode<T>(layout: Layout<T>, value: T): Uint8Array {
  const out = new WriteCursor();
  layout.write(out, value);
  return out.bytes();
}

function integer(size: 1 | 2 | 4, littleEndian: boolean): Layout<number> {
  const name = `u${size * 8}`;
  return {
    read: (cursor) => {
      const start = cursor.advance(size);
      let value = 0;
      for (let i = 0; i < size; i++) {
        value = value * 256 + (cursor.bytes[littleEndian ? start + size - 1 - i : start + i] ?? 0);
      }
      return value;
    },
    skip: (cursor) => void cursor.advance(size),
    write: (out, value) => {
      if (!Number.isInteger(value) || value < 0 || value >= 256 ** size) {
        throw new FormatError("out-of-bounds", name, 0, `${value}`);
      }
      const bytes = new Uint8Array(size);
      for (let i = 0, rest = value; i < size; i++, rest = Math.floor(rest / 256)) {
        bytes[littleEndian ? i : size - 1 - i] = rest % 256;
      }
      out.put(bytes);
    },
  };
}

function integer64(littleEndian: boolean): Layout<bigint> {
  return {
    read: (cursor) => {
      const taken = cursor.take(8);
      return new DataView(taken.buffer, taken.byteOffset, 8).getBigUint64(0, littleEndian);
    },
    write: (out, value) => {
      if (value < 0n || value >= 1n << 64n) throw new FormatError("out-of-bounds", "u64", 0, `${value}`);
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setBigUint64(0, value, littleEndian);
      out.put(bytes);
    },
  };
}

export const u8 = integer(1, false);
export const u16be = integer(2, false);
export const u32be = integer(4, false);
export const u64be = integer64(false);
export const u16le = integer(2, true);
export const u32le = integer(4, true);
export const u64le = integer64(true);

/** A fixed number of bytes. */
export function bytes(length: number): Layout<Uint8Array> {
  return {
    read: (cursor) => cursor.take(length),
    skip: (cursor) => void cursor.advance(length),
    write: (out, value) => {
      if (value.length !== length) throw new FormatError("out-of-bounds", `bytes(${length})`, 0, `${value.length}`);
      out.put(value);
    },
  };
}

/** All bytes to the end of the enclosing structure. */
export const rest: Layout<Uint8Array> = {
  read: (cursor) => cursor.take(cursor.end - cursor.offset),
  write: (out, value) => out.put(value),
};

/** A length, then that many bytes (a TPM2B with `u16be`). */
export function sized(length: Layout<number>, maxBytes: number): Layout<Uint8Array> {
  const bounded = (cursor: ReadCursor): number => {
    const start = cursor.offset;
    const count = length.read(cursor);
    if (count > maxBytes) throw cursor.fail("out-of-bounds", `${count} bytes, at most ${maxBytes}`, start);
    return count;
  };
  return {
    read: (cursor) => cursor.take(bounded(cursor)),
    skip: (cursor) => void cursor.advance(bounded(cursor)),
    write: (out, value) => {
      if (value.length > maxBytes) throw new FormatError("out-of-bounds", "sized", 0, `${value.length} bytes`);
      length.write(out, value.length);
      out.put(value);
    },
  };
}

/** A length, then a structure that fills exactly that many bytes. */
export function sizedOf<T>(length: Layout<number>, inner: Layout<T>): Layout<T> {
  return {
    read: (cursor) => {
      const count = length.read(cursor);
      if (count > cursor.end - cursor.offset) throw cursor.fail("truncated", `${count} bytes wanted`);
      const nested = new ReadCursor(cursor.bytes, cursor.path, cursor.offset, cursor.offset + count);
      const value = inner.read(nested);
      if (nested.offset !== nested.end) throw nested.fail("trailing", `${nested.end - nested.offset} bytes`);
      cursor.offset = nested.end;
      return value;
    },
    write: (out, value) => {
      const body = encode(inner, value);
      length.write(out, body.length);
      out.put(body);
    },
  };
}

/** A count, then that many items. */
export function list<T>(count: Layout<number>, item: Layout<T>, maxItems: number): Layout<T[]> {
  return {
    read: (cursor) => {
      const start = cursor.offset;
      const length = count.read(cursor);
      if (length > maxItems) throw cursor.fail("out-of-bounds", `${length} items, at most ${maxItems}`, start);
      const items: T[] = [];
      for (let i = 0; i < length; i++) {
        cursor.enter(i);
        items.push(item.read(cursor));
        cursor.leave();
      }
      return items;
    },
    write: (out, value) => {
      if (value.length > maxItems) throw new FormatError("out-of-bounds", "list", 0, `${value.length} items`);
      count.write(out, value.length);
      for (const one of value) item.write(out, one);
    },
  };
}

/** Fields one after the other, in the order of the declaration. */
export function struct<F extends Fields>(fields: F): StructLayout<F> {
  const entries = Object.entries(fields);
  return {
    read: (cursor) => {
      const value: Record<string, unknown> = {};
      for (const [name, layout] of entries) {
        cursor.enter(name);
        value[name] = layout.read(cursor);
        cursor.leave();
      }
      return value as Shape<F>;
    },
    write: (out, value) => {
      for (const [name, layout] of entries) layout.write(out, value[name]);
    },
    fields,
  };
}

/** One structure after another, their fields in one value. */
export function joined<A extends object, B extends object>(
  first: Layout<A>,
  second: Layout<B>,
): Layout<Flatten<A & B>> {
  return {
    read: (cursor) => Object.assign(first.read(cursor), second.read(cursor)) as Flatten<A & B>,
    write: (out, value) => {
      first.write(out, value as A);
      second.write(out, value as B);
    },
  };
}

/** A selector field `name`, then the structure it selects; any other selector is refused. */
export function tagged<const N extends string, C extends Cases>(
  name: N,
  tag: Layout<number>,
  cases: C,
): Layout<Union<N, C>> {
  return {
    read: (cursor) => {
      const start = cursor.offset;
      cursor.enter(name);
      const selector = tag.read(cursor);
      cursor.leave();
      const layout = Object.hasOwn(cases, selector) ? cases[selector] : undefined;
      if (!layout) throw cursor.fail("unknown-value", `${name} 0x${selector.toString(16)}`, start);
      return Object.assign(layout.read(cursor), { [name]: selector }) as Union<N, C>;
    },
    write: (out, value) => {
      const selector = (value as Record<string, unknown>)[name];
      const layout = typeof selector === "number" && Object.hasOwn(cases, selector) ? cases[selector] : undefined;
      if (!layout || typeof selector !== "number") throw new FormatError("unknown-value", name, 0, String(selector));
      tag.write(out, selector);
      layout.write(out, value as object);
    },
  };
}

/** An integer that must be one of a closed set. */
export function oneOf<const V extends number>(base: Layout<number>, values: readonly V[]): Layout<V> {
  return {
    read: (cursor) => {
      const start = cursor.offset;
      const value = base.read(cursor);
      const found = values.find((known) => known === value);
      if (found === undefined) throw cursor.fail("unknown-value", `0x${value.toString(16)}`, start);
      return found;
    },
    write: base.write,
  };
}

/** Named bits of an integer; a set bit without a name is refused. */
export function bits<const B extends Readonly<Record<string, number>>>(
  base: Layout<number>,
  names: B,
): Layout<{ [K in keyof B]: boolean }> {
  const entries = Object.entries(names);
  const known = entries.reduce((mask, [, bit]) => mask + 2 ** bit, 0);
  return {
    read: (cursor) => {
      const start = cursor.offset;
      const value = base.read(cursor);
      if ((value & ~known) !== 0) throw cursor.fail("reserved-bits", `0x${value.toString(16)}`, start);
      const flags: Record<string, boolean> = {};
      for (const [name, bit] of entries) flags[name] = ((value >>> bit) & 1) === 1;
      return flags as { [K in keyof B]: boolean };
    },
    write: (out, value) =>
      base.write(
        out,
        entries.reduce((sum, [name, bit]) => sum + (value[name] ? 2 ** bit : 0), 0),
      ),
  };
}
