import type { Fields, Layout, StructLayout, TypeOf } from "./codec.ts";
import { ReadCursor } from "./cursor.ts";

// Structures that come by the thousand, of which few values are wanted: all is checked at once, and read where it is
// asked for.

/**
 * A reader of the fields `names` of a structure; of each other field it checks all and gives the offset alone, for
 * `readAt` to read when it is wanted.
 */
export function outline<F extends Fields, N extends keyof F & string>(
  { fields }: StructLayout<F>,
  names: readonly N[],
): (cursor: ReadCursor) => { [K in keyof F]: K extends N ? TypeOf<F[K]> : number } {
  const entries = Object.entries(fields).map(([name, layout]) => {
    return [name, layout, names.some((one) => one === name)] as const;
  });
  return (cursor) => {
    const value: Record<string, unknown> = {};
    for (const [name, layout, wanted] of entries) {
      cursor.enter(name);
      value[name] = wanted ? layout.read(cursor) : cursor.offset;
      if (!wanted) (layout.skip ?? layout.read)(cursor);
      cursor.leave();
    }
    return value as { [K in keyof F]: K extends N ? TypeOf<F[K]> : number };
  };
}

/**
 * Reads the value that starts there.
 * @throws FormatError
 */
export function readAt<T>(layout: Layout<T>, bytes: Uint8Array, offset: number, structure: string): T {
  return layout.read(new ReadCursor(bytes, structure, offset));
}

type Item<K extends string, V extends string> = { [P in K]: number } & { [P in V]: Uint8Array };

/** Items of a key and bytes. */
export interface EachOnce<K extends string, V extends string> extends Layout<readonly Item<K, V>[]> {
  /** The bytes behind that key, of a list that is known to be well-formed and starts there. */
  find(bytes: Uint8Array, offset: number, key: number): Uint8Array | undefined;
}

/** A count, then for each key of `lengths`, once and in any order: the key, and so many bytes. */
export function eachOnce<const K extends string, const V extends string>(
  count: Layout<number>,
  key: readonly [name: K, layout: Layout<number>],
  value: V,
  lengths: ReadonlyMap<number, number>,
): EachOnce<K, V> {
  const [name, keyLayout] = key;
  const bits = new Map([...lengths.keys()].map((one, i) => [one, 2 ** i]));
  const pass = (cursor: ReadCursor, see?: (key: number, value: Uint8Array) => void): void => {
    const start = cursor.offset;
    const items = count.read(cursor);
    if (items > lengths.size) throw cursor.fail("out-of-bounds", `${items} items, at most ${lengths.size}`, start);
    let seen = 0;
    for (let i = 0; i < items; i++) {
      cursor.enter(i);
      const keyAt = cursor.offset;
      const one = keyLayout.read(cursor);
      const length = lengths.get(one);
      if (length === undefined) throw cursor.fail("unknown-value", `${name} 0x${one.toString(16)}`, keyAt);
      if (see) see(one, cursor.take(length));
      else cursor.advance(length);
      seen |= bits.get(one) ?? 0;
      cursor.leave();
    }
    if (seen !== 2 ** lengths.size - 1)
      throw cursor.fail("inconsistent", `${items} items, not one of each ${name}`, start);
  };
  return {
    read: (cursor) => {
      const items: Item<K, V>[] = [];
      pass(cursor, (one, bytes) => items.push({ [name]: one, [value]: bytes } as Item<K, V>));
      return items;
    },
    skip: (cursor) => pass(cursor),
    find: (bytes, offset, wanted) => {
      const cursor = new ReadCursor(bytes, name, offset);
      for (let left = count.read(cursor); left > 0; left--) {
        const one = keyLayout.read(cursor);
        const length = lengths.get(one) ?? 0;
        if (one === wanted) return cursor.take(length);
        cursor.advance(length);
      }
      return undefined;
    },
    write: (out, items) => {
      count.write(out, items.length);
      for (const item of items) {
        keyLayout.write(out, item[name]);
        out.put(item[value]);
      }
    },
  };
}
