import type { Random } from "./random.ts";

type Mutation = (bytes: Uint8Array, random: Random, others: readonly Uint8Array[]) => Uint8Array;

const joined = (...parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const u32 = (value: number): Uint8Array =>
  Uint8Array.of(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255);

/** Words that readers look for. */
const WORDS: readonly Uint8Array[] = [
  ...["Spec ID Event03\0", "StartupLocality\0", "MokSBState", "sbat,", "-----BEGIN CERTIFICATE-----"].map(ascii),
  ...["SecureBoot", "PK", "KEK", "db", "dbx", "Shim", "SbatLevel"].map(
    (w) => new Uint8Array(Buffer.from(w, "utf16le")),
  ),
  ...["UEFI Debug Mode", "DMA Protection Disabled", "kernel_cmdline: ", "grub_kernel_cmdline "].map(ascii),
  ...[3, 4, 0x80000001, 0x80000007, 0x800000e0, 7, 9, 14, 0xffffffff, 0x7fffffff].map(u32),
  ...[0xff54, 0x4347, 0x8018, 0x8017, 0x000b, 0x000c, 0x0014, 0x0016, 0x0018, 0x0023, 0x0010, 0x8000, 0xffff].map((v) =>
    Uint8Array.of(v >> 8, v & 255),
  ),
  ...["3080", "3082ffff", "308400ffffff", "a003020102", "0603551d13", "170d", "180f", "1e00", "88cc", "8100"].map(
    (hex) => new Uint8Array(Buffer.from(hex, "hex")),
  ),
  ...['"__proto__":', '"commandLine":', "null", "1e999", "\\ud800", "\\u0000", "[[[[", '{"a":'].map(ascii),
];

const at = (bytes: Uint8Array, random: Random): number => random.below(bytes.length + 1);
const span = (bytes: Uint8Array, random: Random): readonly [number, number] => {
  const start = at(bytes, random);
  return [start, Math.min(bytes.length, start + 1 + random.below(random.below(4) === 0 ? 64 : 8))];
};
const changed = (bytes: Uint8Array, index: number, value: (octet: number) => number): Uint8Array => {
  const copy = bytes.slice();
  if (index < copy.length) copy[index] = value(copy[index] ?? 0);
  return copy;
};

const MUTATIONS: readonly Mutation[] = [
  (bytes, random) => changed(bytes, at(bytes, random), (octet) => octet ^ (1 << random.below(8))),
  (bytes, random) => changed(bytes, at(bytes, random), () => random.below(256)),
  (bytes, random) => changed(bytes, at(bytes, random), (octet) => octet + random.of([1, -1, 2, -2, 16])),
  (bytes, random) => changed(bytes, at(bytes, random), () => random.of([0, 1, 0x7f, 0x80, 0xff])),
  (bytes, random) => bytes.slice(0, at(bytes, random)),
  (bytes, random) => {
    const [start, end] = span(bytes, random);
    return joined(bytes.subarray(0, start), bytes.subarray(end));
  },
  (bytes, random) => {
    const [start, end] = span(bytes, random);
    return joined(bytes.subarray(0, end), bytes.subarray(start));
  },
  (bytes, random) => {
    const index = at(bytes, random);
    return joined(bytes.subarray(0, index), random.of(WORDS), bytes.subarray(index));
  },
  (bytes, random) => {
    const copy = bytes.slice();
    const word = random.of(WORDS);
    const index = at(bytes, random);
    copy.set(word.subarray(0, Math.max(0, copy.length - index)), index);
    return copy;
  },
  (bytes, random) => {
    const index = at(bytes, random);
    const value = random.of([0, 1, 2, 0xff, 0x7f, 0x100, 0xffff, bytes.length - index, bytes.length]);
    const copy = bytes.slice();
    copy.set(
      (random.below(2) === 0 ? u32(value) : u32(value).reverse()).subarray(0, Math.max(0, copy.length - index)),
      index,
    );
    return copy;
  },
  (bytes, random, others) => {
    const other = random.of(others);
    return joined(bytes.subarray(0, at(bytes, random)), other.subarray(at(other, random)));
  },
  (bytes, random, others) => {
    const other = random.of(others);
    const [start, end] = span(other, random);
    const index = at(bytes, random);
    return joined(bytes.subarray(0, index), other.subarray(start, end), bytes.subarray(index));
  },
];

/** One to eight changes of some bytes. */
export function mutated(bytes: Uint8Array, random: Random, others: readonly Uint8Array[]): Uint8Array {
  let next = bytes;
  for (let left = 1 + random.below(random.below(3) === 0 ? 8 : 2); left > 0; left--)
    next = random.of(MUTATIONS)(next, random, others);
  return next;
}

/** JSON with one leaf changed: a text of base64 in its bytes, any other value to another. */
export function mutatedJson(bytes: Uint8Array, random: Random, others: readonly Uint8Array[]): Uint8Array {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return mutated(bytes, random, others);
  }
  return ascii(JSON.stringify(leafChanged(json, random)) ?? "null");
}

const OTHER_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "AAAA",
  "\ud800",
  [],
  {},
  [[]],
  "x".repeat(300),
];

function leafChanged(value: unknown, random: Random): unknown {
  if (typeof value === "object" && value !== null && random.below(12) > 0) {
    const entries = Object.entries(value);
    if (entries.length === 0) return random.of(OTHER_VALUES);
    const chosen = random.below(entries.length);
    const change = random.below(20);
    const next = entries.flatMap(([key, one], i): [string, unknown][] => {
      if (i !== chosen) return [[key, one]];
      return change === 0 ? [] : change === 1 ? [[`${key}x`, one]] : [[key, leafChanged(one, random)]];
    });
    return Array.isArray(value) ? next.map(([, one]) => one) : Object.fromEntries(next);
  }
  if (typeof value === "string" && random.below(4) > 0) {
    const inside = new Uint8Array(Buffer.from(value, "base64"));
    const isBase64 = value.length > 3 && Buffer.from(inside).toString("base64") === value;
    if (isBase64) return Buffer.from(mutated(inside, random, [inside])).toString("base64");
    return new TextDecoder().decode(mutated(ascii(value), random, [ascii(value)]));
  }
  return random.of(OTHER_VALUES);
}
