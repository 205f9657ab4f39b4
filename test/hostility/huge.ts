import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { separator } from "../shared/attest/log-builder.ts";
import { about } from "./attack.ts";
import { type Recorded, recordLog } from "./logs.ts";

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const repeated = (value: string, times: number): Uint8Array => text(value.repeat(times));

/** A log of so many records; one that is the same each time is made once. */
function logOf(count: number, one: (i: number) => Recorded): Uint8Array {
  if (one.length > 0) return recordLog(Array.from({ length: count }, (_, i) => one(i))).log;
  const { log } = recordLog([one(0)]);
  const head = recordLog([]).log.length;
  return new Uint8Array(
    Buffer.concat([log.subarray(0, head), Buffer.alloc(count * (log.length - head), log.subarray(head))]),
  );
}

/** DER elements in DER elements, so many deep. */
function nested(depth: number): Uint8Array {
  const heads: number[][] = [];
  for (let i = 0, length = 0; i < depth; i++) {
    const long = [(length >> 16) & 255, (length >> 8) & 255, length & 255];
    const head = length < 128 ? [0x30, length] : [0x30, 0x83, ...long];
    heads.push(head);
    length += head.length;
  }
  return Uint8Array.from(heads.reverse().flat());
}

/** A SEQUENCE of so many NULLs. */
function flat(count: number): Uint8Array {
  const length = 2 * count;
  const head = [0x30, 0x84, 0, (length >> 16) & 255, (length >> 8) & 255, length & 255];
  return Uint8Array.from([...head, ...Array.from({ length }, (_, i) => (i % 2 === 0 ? 5 : 0))]);
}

/** One signature list of so many entries of one byte each. */
function signatures(count: number): Uint8Array {
  const list = Buffer.alloc(28 + 17 * count);
  list.writeUInt32LE(list.length, 16);
  list.writeUInt32LE(17, 24);
  return new Uint8Array(list);
}

/** So many signature lists without an entry. */
function emptyLists(count: number): Uint8Array {
  const list = Buffer.alloc(28);
  list.writeUInt32LE(28, 16);
  list.writeUInt32LE(17, 24);
  return new Uint8Array(Buffer.concat(Array.from({ length: count }, () => list)));
}

const FRAME = "0180c200000e52540012345688cc02070452540012345604050573777037060200780";
const begin = "-----BEGIN CERTIFICATE-----";
const end = "-----END CERTIFICATE-----\n";

/** Inputs that are made of one thing, n times: of what a reader might do for each, and for each again. */
export const LOGS: Readonly<Record<string, (n: number) => Uint8Array>> = {
  separators: (n) => logOf(n, () => separator),
  "separators of an impossible value": (n) => logOf(n, () => ({ ...separator, data: new Uint8Array(4).fill(3) })),
  "records of an unknown kind": (n) => logOf(n, () => ({ pcr: 7, type: EV.EV_ACTION, data: new Uint8Array(0) })),
  "empty records outside PCR 7": (n) => logOf(n, () => ({ pcr: 0, type: 0, data: new Uint8Array(0) })),
  "records that say nothing": (n) => logOf(n, () => ({ pcr: 7, type: EV.EV_NO_ACTION, data: new Uint8Array(0) })),
  "StartupLocality events": (n) =>
    logOf(n, () => ({ pcr: 0, type: EV.EV_NO_ACTION, data: text("StartupLocality\0\x03") })),
  "authorities that are none": (n) => logOf(n, () => about("authority", "db", "database", new Uint8Array(40))),
  "authorities that are nested DER": (n) => logOf(n >> 4, () => about("authority", "db", "database", nested(300))),
  "one variable again and again": (n) => logOf(n, () => about("config", "SecureBoot", "global", Uint8Array.of(1))),
  "variables of all names": (n) => logOf(n, (i) => about("config", `v${i}`, "other", Uint8Array.of(1))),
  "actions of long text": (n) => logOf(n >> 4, () => ({ pcr: 7, type: EV.EV_EFI_ACTION, data: new Uint8Array(600) })),
  "command lines of GRUB's": (n) => logOf(n, () => ({ pcr: 8, type: EV.EV_IPL, data: text("kernel_cmdline: a\0") })),
  "shim's names in PCR 14": (n) => logOf(n, () => ({ pcr: 14, type: EV.EV_IPL, data: text("MokSBState") })),
  "a db of entries": (n) => logOf(1, () => about("config", "db", "database", signatures(n))),
};

export const DER: Readonly<Record<string, (n: number) => Uint8Array>> = {
  "elements in elements": (n) => nested(n * 8),
  "elements beside elements": (n) => flat(n * 8),
  "one long element": (n) =>
    Uint8Array.from([0x30, 0x83, (n >> 12) & 255, (n >> 4) & 255, (n << 4) & 255, ...new Uint8Array(n * 16)]),
  zeros: (n) => new Uint8Array(n * 16),
  "octets ff": (n) => new Uint8Array(n * 16).fill(255),
};

export const LISTS: Readonly<Record<string, (n: number) => Uint8Array>> = {
  "entries of one byte": (n) => signatures(n * 5),
  "lists without an entry": (n) => emptyLists(n * 2),
};

export const TEXTS: Readonly<Record<string, (n: number) => Uint8Array>> = {
  "lines of SBAT": (n) => text(`sbat,1\n${Array.from({ length: n * 2 }, (_, i) => `c${i},1\n`).join("")}`),
  "zeros and one letter": (n) => Uint8Array.from([...new Uint8Array(n * 32), 65]),
  commas: (n) => repeated(",", n * 32),
  "beginnings of PEM": (n) => repeated(begin, n),
  "PEM without an end": (n) => text(begin + "A".repeat(n * 32)),
  "blocks of PEM": (n) => repeated(`${begin}AAAA${end}`, n),
  "white space in PEM": (n) => text(`${begin}${" \n".repeat(n * 16)}${end}`),
};

export const FRAMES: Readonly<Record<string, (n: number) => Uint8Array>> = {
  "TLVs without contents": (n) =>
    new Uint8Array(Buffer.concat([Buffer.from(FRAME, "hex"), Buffer.alloc(n * 4, Buffer.from([0x10, 0]))])),
  "TLVs of port ids": (n) =>
    new Uint8Array(Buffer.concat([Buffer.from(FRAME, "hex"), Buffer.alloc(n * 4, Buffer.from([4, 2, 7, 65]))])),
};

export const JSONS: Readonly<Record<string, (n: number) => Uint8Array>> = {
  "lists in lists": (n) => text(`{"a":${"[".repeat(n * 16)}${"]".repeat(n * 16)}}`),
  "objects in objects": (n) => text(`${'{"a":'.repeat(n * 4)}1${"}".repeat(n * 4)}`),
  keys: (n) => text(`{${Array.from({ length: n * 2 }, (_, i) => `"k${i}":0`).join()}}`),
  "one key again and again": (n) => text(`{${Array.from({ length: n * 2 }, () => '"commandLine":"x"').join()}}`),
  "a long number": (n) => text(`{"commandLine":${"9".repeat(n * 32)}}`),
  "a long text": (n) => text(`{"commandLine":"${"x ".repeat(n * 16)}"}`),
  "a long escaped text": (n) => text(`{"commandLine":"${"\\u0000".repeat(n * 8)}"}`),
};
