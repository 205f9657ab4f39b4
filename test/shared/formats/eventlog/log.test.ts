import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encode } from "../../../../shared/formats/codec.ts";
import { EV, eventTypeName } from "../../../../shared/formats/eventlog/event-types.ts";
import {
  EventLogError,
  type EventRecord,
  readEventLog,
  TCG_EFI_SPEC_ID_EVENT,
  TCG_PCR_EVENT,
  tcgPcrEvent2,
} from "../../../../shared/formats/eventlog/log.ts";
import { hex, vector } from "../../../vectors/read.ts";
import { fiveParts } from "../five-parts.ts";

const bytes = vector("vm/lab-sb-on/eventlog.bin");
const log = readEventLog(bytes);

fiveParts("TCG_PCR_EVENT", TCG_PCR_EVENT, { "a VM's header": bytes.subarray(0, log.records[1]?.offset) });
fiveParts("TCG_EfiSpecIdEvent", TCG_EFI_SPEC_ID_EVENT, {
  "a VM's header": log.records[0]?.untrustedData ?? new Uint8Array(0),
});
fiveParts("TCG_PCR_EVENT2", tcgPcrEvent2([0x0004, 0x000b]), {
  "a VM's first record": bytes.subarray(log.records[1]?.offset, log.records[2]?.offset),
});

test("every field of the header", () => {
  expect(log.specId && { ...log.specId, signature: Buffer.from(log.specId.signature).toString() }).toEqual({
    signature: "Spec ID Event03\0",
    platformClass: 0,
    specVersionMinor: 0,
    specVersionMajor: 2,
    specErrata: expect.any(Number),
    uintnSize: 2,
    algorithms: [
      { algorithmId: 0x0004, digestSize: 20 },
      { algorithmId: 0x000b, digestSize: 32 },
    ],
    vendorInfo: new Uint8Array(0),
  });
});

test("records are what tpm2_eventlog lists: 37 of them, and the first of PCR 9 is the kernel's command line", () => {
  expect(log.records.length).toBe(37);
  const first = log.records.find((record) => record.pcrIndex === 9);
  expect(first && eventTypeName(first.untrustedType)).toBe("EV_EVENT_TAG");
  expect(hex(first?.digest(0x0004))).toBe("b8012606251d24df1baea3271325fbe29e97d107");
  expect(hex(first?.digest(0x000b))).toBe("a6863fcbdef03ab38fbf66f595d27f849e1e15f1226d65ada2175dd24e064295");
  expect(first?.untrustedData.length).toBe(34);
});

const whole = ({ record, offset, pcrIndex, untrustedType, untrustedData, digests }: EventRecord) => {
  return { record, offset, pcrIndex, untrustedType, untrustedData, digests };
};

test("a log cut anywhere is shorter or malformed, never another one", () => {
  const starts = new Set(log.records.map((record) => record.offset));
  for (let length = 1; length < bytes.length; length++) {
    try {
      const cut = readEventLog(bytes.subarray(0, length));
      expect(starts.has(length), `${length} bytes`).toBe(true);
      expect(cut.records.map(whole)).toEqual(log.records.slice(0, cut.records.length).map(whole));
    } catch (error) {
      if (!(error instanceof EventLogError)) throw error;
      expect(starts.has(length)).toBe(false);
    }
  }
});

test("whatever bytes change, the log is read or refused, and nothing else happens", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      (changes) => {
        const changed = bytes.slice();
        for (const [at, octet] of changes) changed[at] = octet;
        try {
          readEventLog(changed);
        } catch (error) {
          if (!(error instanceof EventLogError)) throw error;
        }
      },
    ),
    { numRuns: 2000, seed: 20_261_129 },
  );
});

describe("headers that are none", () => {
  const specId = (algorithms: { algorithmId: number; digestSize: number }[]): Uint8Array => {
    const event = encode(TCG_EFI_SPEC_ID_EVENT, {
      signature: new TextEncoder().encode("Spec ID Event03\0"),
      platformClass: 0,
      specVersionMinor: 0,
      specVersionMajor: 2,
      specErrata: 0,
      uintnSize: 2,
      algorithms,
      vendorInfo: new Uint8Array(0),
    });
    return encode(TCG_PCR_EVENT, { pcrIndex: 0, eventType: EV.EV_NO_ACTION, digest: new Uint8Array(20), event });
  };
  const sha256 = { algorithmId: 0x000b, digestSize: 32 };
  test.each([
    ["no algorithm", [], /no algorithm/],
    ["an algorithm twice", [sha256, sha256], /twice/],
    ["an unknown algorithm", [{ algorithmId: 0x99, digestSize: 32 }], /0x99/],
    ["a digest of another size", [{ algorithmId: 0x000b, digestSize: 20 }], /0xb of 20/],
  ])("%s", (_, algorithms, reason) => {
    expect(() => readEventLog(specId(algorithms))).toThrow(reason);
  });
  test("a header alone is a log of one record", () => expect(readEventLog(specId([sha256])).records.length).toBe(1));
});
