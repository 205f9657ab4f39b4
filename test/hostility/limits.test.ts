import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { judgeBoot } from "../../shared/attest/boot.ts";
import { verifyBundle } from "../../shared/attest/bundle.ts";
import { describeLog } from "../../shared/attest/describe-log.ts";
import { loadProfile } from "../../shared/attest/profile.ts";
import { readReport } from "../../shared/attest/report.ts";
import { FormatError } from "../../shared/formats/error.ts";
import { certificatesOf, readSignatureLists } from "../../shared/formats/eventlog/efi-signature-list.ts";
import { EventLogError, readEventLog } from "../../shared/formats/eventlog/log.ts";
import { readSbatLevel } from "../../shared/formats/eventlog/sbat.ts";
import { readLldpFrame } from "../../shared/formats/lldp/frame.ts";
import { readCertificationRequest } from "../../shared/formats/x509/certification-request.ts";
import { readEkCertificate } from "../../shared/formats/x509/ek-certificate.ts";
import { nameText } from "../../shared/formats/x509/name.ts";
import { readCertificatePems } from "../../shared/formats/x509/pem.ts";
import { decodeSpki } from "../../shared/formats/x509/spki.ts";
import { DER, FRAMES, JSONS, LISTS, LOGS, TEXTS } from "./huge.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

type Read = (bytes: Uint8Array) => unknown;

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const json = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));
const boot: Read = (eventLog) =>
  judgeBoot({
    eventLog,
    bank: "sha256",
    select: [0, 7],
    pcrs: {},
    profile: null,
    withoutProfile: true,
    purpose: "intake",
    secureBoot: null,
    commandLine: null,
    attest: null,
  });

const readers: readonly (readonly [
  string,
  Readonly<Record<string, (n: number) => Uint8Array>>,
  Readonly<Record<string, Read>>,
])[] = [
  ["event logs", LOGS, { readEventLog, describeLog, judgeBoot: boot }],
  ["signature lists", LISTS, { readSignatureLists: (bytes) => certificatesOf(readSignatureLists(bytes)) }],
  ["DER", DER, { readEkCertificate, readCertificationRequest, decodeSpki, nameText }],
  ["texts", TEXTS, { readSbatLevel, readCertificatePems: (bytes) => readCertificatePems(latin1(bytes)) }],
  ["frames", FRAMES, { readLldpFrame }],
  [
    "JSON",
    JSONS,
    {
      readReport,
      verifyBundle: (bytes) => verifyBundle(json(bytes)),
      loadProfile: (bytes) => loadProfile(json(bytes)),
    },
  ],
];

/** What is read, or null where it was refused as it may be; anything else that is thrown is a fault. */
function calm(read: Read, bytes: Uint8Array): unknown {
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof FormatError || error instanceof EventLogError) return null;
    throw error;
  }
}

/** Whether a read of four times the input takes much less than sixteen times as long; a busy machine gets more tries. */
function growsGently(read: Read, small: Uint8Array, large: Uint8Array): boolean {
  const fastest = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  const timed = (bytes: Uint8Array): number => {
    const startMs = performance.now();
    calm(read, bytes);
    return performance.now() - startMs;
  };
  for (let tries = 0; tries < 12; tries++) {
    fastest.small = Math.min(fastest.small, timed(small));
    fastest.large = Math.min(fastest.large, timed(large));
    if (fastest.large < MAX_RATIO * fastest.small + NOISE_MS) return true;
  }
  return false;
}

const N = 800;
const MAX_RATIO = 10;
const NOISE_MS = 2;
const MAX_BYTES_A_BYTE = 200;

describe.each(readers)("%s", (_, inputs, reads) => {
  const all = Object.entries(inputs).flatMap(([what, make]) =>
    Object.entries(reads).map(([name, read]) => [what, name, make, read] as const),
  );
  test.each(all)("%s by %s: time and memory grow with the input, not with its square", (_what, _name, make, read) => {
    const [small, large] = [make(N), make(4 * N)];
    expect(growsGently(read, small, large)).toBe(true);
    collect();
    const before = process.memoryUsage().heapUsed;
    const held = calm(read, large);
    collect();
    const after = process.memoryUsage().heapUsed;
    expect(after - before).toBeLessThan(MAX_BYTES_A_BYTE * large.length + 1_000_000);
    expect(held === undefined).toBe(false);
  });
});

test("a count that promises more than there is allocates nothing", () => {
  const before = process.memoryUsage();
  for (const size of [0xffffffff, 0x7fffffff, 0x10000000]) {
    const record = Buffer.alloc(32);
    record.writeUInt32LE(size, 28);
    expect(() => readEventLog(new Uint8Array(record))).toThrow(EventLogError);
    const list = Buffer.alloc(28);
    list.writeUInt32LE(size, 16);
    list.writeUInt32LE(17, 24);
    expect(() => readSignatureLists(new Uint8Array(list))).toThrow(FormatError);
    const element = Buffer.from([0x30, 0x84, 0, 0, 0, 0]);
    element.writeUInt32BE(size, 2);
    expect(() => readEkCertificate(new Uint8Array(element))).toThrow(FormatError);
  }
  const after = process.memoryUsage();
  expect(after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed).toBeLessThan(20_000_000);
});

test("two megabytes of one thing each, as large as a body may be", () => {
  const records = Buffer.alloc(2 * 1024 * 1024);
  const log = calm(readEventLog, new Uint8Array(records));
  // Each of these is a record of SHA-1 logs: PCR 0, no type, no data.
  expect(log).toMatchObject({ format: "sha1", records: { length: records.length / 32 } });
  expect(calm(boot, new Uint8Array(records))).toMatchObject({ result: "fail" });
  expect(calm(readEkCertificate, DER["elements in elements"]?.(52_000) ?? new Uint8Array(0))).toBe(null);
  expect(calm(readSignatureLists, LISTS["entries of one byte"]?.(20_000) ?? new Uint8Array(0))).toMatchObject([
    { signatures: { length: 100_000 } },
  ]);
  expect(calm(readReport, JSONS["lists in lists"]?.(65_000) ?? new Uint8Array(0))).toBe(null);
});

test("a log of a hundred thousand faults is a short verdict", () => {
  const codes = ["pcr-zero", "event-log-mismatch", "secure-boot-mismatch"];
  for (const what of ["records of an unknown kind", "authorities that are none", "actions of long text"]) {
    const verdict = boot(LOGS[what]?.(100_000) ?? new Uint8Array(0));
    expect(verdict, what).toMatchObject({ result: "fail", codes });
    expect(JSON.stringify(verdict).length, what).toBeLessThan(500_000);
  }
  const localities = boot(LOGS["StartupLocality events"]?.(100_000) ?? new Uint8Array(0));
  expect(localities).toMatchObject({ codes: ["pcr-zero", "event-log-malformed", ...codes.slice(1)] });
  expect(JSON.stringify(localities).length).toBeLessThan(50_000);
});
