import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { der, TAG } from "../../../shared/formats/der.ts";
import { sequence } from "../../../shared/formats/der-write.ts";
import { FormatError } from "../../../shared/formats/error.ts";
import { readSignatureLists } from "../../../shared/formats/eventlog/efi-signature-list.ts";
import { readSbatLevel } from "../../../shared/formats/eventlog/sbat.ts";
import { readLldpFrame } from "../../../shared/formats/lldp/frame.ts";
import { readEkCertificate } from "../../../shared/formats/x509/ek-certificate.ts";
import { decodeSpki } from "../../../shared/formats/x509/spki.ts";
import { vector } from "../../vectors/read.ts";
import { refusedAs } from "./five-parts.ts";

const certificates = ["nuvoton-npct6xx-padded.der", "swtpm-071-ecc-p384.der", "stm-st33zp24-nv-header.der"].map(
  (file) => vector(`ekcerts/${file}`),
);
const frame = Uint8Array.from(
  Buffer.from("0180c200000e52540012345688cc02070452540012345604050573777037060200780a077377697463683100000000", "hex"),
);

/** Refused as FormatError or read: nothing else may come out of bytes from outside. */
function calm(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof FormatError) return true;
    throw error;
  }
}

const mutated = (seeds: readonly Uint8Array[]) =>
  fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      fc.nat(),
    )
    .map(([bytes, changes, cut]) => {
      const changed = bytes.slice(0, cut % 5 === 0 ? cut % bytes.length : bytes.length);
      for (const [at, octet] of changes) if (changed.length > 0) changed[at % changed.length] = octet;
      return changed;
    });

describe("bytes from outside are read or refused", () => {
  const readers: [string, (bytes: Uint8Array) => unknown, readonly Uint8Array[]][] = [
    ["EK certificates", readEkCertificate, certificates],
    ["LLDP frames", readLldpFrame, [frame]],
    ["signature lists", readSignatureLists, [vector("vm/lab-sb-on/eventlog.bin").slice(300, 1600)]],
    ["SbatLevel", readSbatLevel, [new TextEncoder().encode("sbat,1,2023012900\nshim,2\n")]],
    ["SubjectPublicKeyInfo", decodeSpki, certificates],
  ];
  test.each(readers)("%s, changed", (_, read, seeds) => {
    fc.assert(
      fc.property(mutated(seeds), (bytes) => calm(() => read(bytes))),
      { numRuns: 2000, seed: 20_261_129 },
    );
  });
  test.each(readers)("%s, of nothing but chance", (_, read) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => calm(() => read(bytes))),
      { numRuns: 1000, seed: 20_261_129 },
    );
  });
});

test("a megabyte in a name, a time or an object identifier is refused or read at once", () => {
  const [certificate] = certificates;
  if (!certificate) throw new Error("no certificate");
  const huge = new Uint8Array(1_000_000).fill(0x81);
  const startMs = performance.now();
  for (const tag of [TAG.OID, TAG.UTC_TIME, TAG.UTF8_STRING, TAG.PRINTABLE_STRING]) {
    expect(calm(() => readEkCertificate(sequence(sequence(der(tag, huge)))))).toBe(true);
    expect(calm(() => decodeSpki(sequence(sequence(der(tag, huge)), der(TAG.BIT_STRING, Uint8Array.of(0)))))).toBe(
      true,
    );
  }
  const nameOf = (value: Uint8Array) =>
    sequence(der(TAG.SET, sequence(der(TAG.OID, Uint8Array.of(0x55, 4, 3)), value)));
  const name = nameOf(der(TAG.PRINTABLE_STRING, huge));
  const tbs = sequence(
    der(TAG.INTEGER, Uint8Array.of(1)),
    sequence(),
    name,
    sequence(der(TAG.UTC_TIME, huge), der(TAG.UTC_TIME, huge)),
    name,
    sequence(),
  );
  const whole = sequence(tbs, sequence(der(TAG.OID, Uint8Array.of(0x2a))), der(TAG.BIT_STRING, Uint8Array.of(0)));
  expect(refusedAs(() => readEkCertificate(whole))).not.toBe("accepted");
  expect(performance.now() - startMs).toBeLessThan(5000);
});
