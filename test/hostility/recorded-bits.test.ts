import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifyBundle } from "../../shared/attest/bundle.ts";
import type { EvidenceBundle } from "../../shared/attest/bundle-read.ts";
import { ANSWERS, answeredBundle } from "../vectors/answers.ts";
import { vector, vectorJson } from "../vectors/read.ts";
import { Judge } from "./bits.ts";
import { binaryFields, bytesAt } from "./fields.ts";
import { base64 } from "./logs.ts";

const whole = process.env.FLEETD_HOSTILITY === "whole";

interface VmSet {
  readonly name: string;
  readonly expect: {
    readonly nonce: string;
    readonly event_log: boolean;
    readonly pcrs_sha256: Record<string, string>;
  };
}

const file = (set: VmSet, name: string): string => base64(vector(`vm/${set.name}/${name}`));

function machine(set: VmSet): EvidenceBundle {
  return {
    akPublic: file(set, "ak.pub.tpm2b"),
    quote: { attest: file(set, "quote.msg"), signature: file(set, "quote.sig") },
    expectedExtraData: base64(Buffer.from(set.expect.nonce, "hex")),
    pcrs: { sha256: set.expect.pcrs_sha256 },
    eventLog: file(set, "eventlog.bin"),
    request: { bank: "sha256", select: Array.from({ length: 16 }, (_, i) => i) },
    ekCertificates: [file(set, "ek-rsa.crt.der"), file(set, "ek-ecc.crt.der")],
    ldevidPublic: file(set, "ldevid.pub.tpm2b"),
    certify: { attest: file(set, "certify.msg"), signature: file(set, "certify.sig") },
  };
}

const machines = vectorJson<{ sets: VmSet[] }>("vm/manifest.json")
  .sets.filter((set) => set.expect.event_log)
  .map((set) => [`vm/${set.name}`, machine(set)] as const);
const recorded = Object.entries(ANSWERS)
  .filter(([, [verdict]]) => verdict === "accepted")
  .map(([name]) => [name, answeredBundle(name) as EvidenceBundle] as const);

test("there are sets of both kinds", () => {
  expect([machines.length > 5, recorded.length > 5]).toEqual([true, true]);
});

describe.each([...machines, ...recorded])("%s", (_, bundle) => {
  test("any bit, prefix or trailing byte of any field is refused or harmless by a rule", { timeout: 60_000 }, () => {
    expect(verifyBundle(bundle).verdict).toBe("accepted");
    const judge = new Judge({ name: "recorded", bundle, profile: null });
    const change = fc.tuple(
      fc.constantFrom(...binaryFields(bundle)),
      fc.nat(),
      fc.constantFrom("bit", "prefix", "octet"),
    );
    fc.assert(
      fc.property(change, ([field, at, kind]) => {
        const { length } = bytesAt(bundle, field);
        if (length === 0 || kind === "octet") judge.trailing(field, [at % 256]);
        else if (kind === "bit") judge.bits(field, [at % (length * 8)]);
        else judge.prefixes(field, [at % length]);
        return judge.unexplained.length === 0;
      }),
      { numRuns: whole ? 5000 : 60, seed: 20_261_130 },
    );
    judge.reasons();
  });
});
