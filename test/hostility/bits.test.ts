import { describe, expect, test, vi } from "vitest";
import { verifyBundle } from "../../shared/attest/bundle.ts";
import type { Purpose } from "../../shared/attest/verdict.ts";
import { Judge } from "./bits.ts";
import { KEY_KINDS, type KeyKind, softSet } from "./evidence.ts";
import { binaryFields, bytesAt, withField } from "./fields.ts";

const OCTETS = Array.from({ length: 256 }, (_, octet) => octet);
const every = (length: number, step: number) => Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step);

// Each kind of key, and every bit of all that it signs or is in. A log is read alike whatever key quotes its PCRs, so
// its bits are turned by turns; FLEETD_HOSTILITY=whole, which takes three minutes with recorded-bits, leaves none out.
const whole = process.env.FLEETD_HOSTILITY === "whole";
vi.setConfig({ testTimeout: whole ? 600_000 : 60_000 });
const sets: readonly (readonly [KeyKind, Purpose, logStep: number])[] = [
  ["RSASSA", "intake", whole ? 1 : 5],
  ["P-384", "renewal", whole ? 1 : 31],
  ["RSAPSS", "renewal", whole ? 1 : 101],
  ["P-256", "intake", whole ? 1 : 101],
];

test("every kind of key is here", () => {
  expect(sets.map(([kind]) => kind).sort()).toEqual([...KEY_KINDS].sort());
});

describe.each(sets)("%s, %s: every bit, every prefix, every trailing byte", (kind, purpose, logStep) => {
  const set = softSet(kind, purpose);
  const fields = binaryFields(set.bundle);

  const evidence = fields.filter((field) => field !== "eventLog" && !field.startsWith("ekCertificates"));
  test.each(evidence)("%s", (field) => {
    const judge = new Judge(set);
    judge.bits(field);
    judge.prefixes(field);
    judge.trailing(field, OCTETS);
    expect(judge.reasons()).toEqual(field === "akPublic" ? ["ak-attribute"] : []);
  });

  // Read by nothing that judges, so one in so many is enough to see it.
  test("ekCertificates.0", () => {
    const judge = new Judge(set);
    const { length } = bytesAt(set.bundle, "ekCertificates.0");
    judge.bits("ekCertificates.0", every(length * 8, whole ? 1 : 29));
    judge.prefixes("ekCertificates.0", every(length, 13));
    judge.trailing("ekCertificates.0", [0, 0x11, 0xff]);
    expect(judge.reasons()).toEqual(["ek-certificate"]);
  });

  test("eventLog", () => {
    const judge = new Judge(set);
    const { length } = bytesAt(set.bundle, "eventLog");
    judge.bits("eventLog", every(length * 8, logStep));
    judge.prefixes("eventLog", every(length, Math.ceil(logStep / 10)));
    judge.trailing("eventLog", OCTETS);
    const reasons = judge.reasons();
    if (logStep === 1)
      expect(reasons).toEqual([
        "data-outside-pcr7",
        "header-digest",
        "other-bank",
        "pcr-not-judged",
        "spec-id",
        "type-outside-pcr7",
      ]);
    else expect(reasons.length).toBeGreaterThan(2);
  });

  test("pcrs: each character of each value, each value gone, each index", () => {
    const judge = new Judge(set);
    const { pcrs, request } = set.bundle;
    for (const [bank, values] of Object.entries(pcrs))
      for (const [index, value] of Object.entries(values)) {
        const read = bank === request.bank && request.select.includes(Number(index));
        const path = `pcrs.${bank}.${index}`;
        judge.change(withField(set.bundle, path, undefined), `${path} gone`, read ? null : "pcr-not-selected");
        if (!read) judge.change(withField(set.bundle, path, `${value}00`), `${path} longer`, "pcr-not-selected");
        if (!read) continue;
        for (let at = 0; at < value.length; at++)
          for (const bit of whole ? [0, 1, 2, 3, 4, 5, 6, 7] : [at % 5, 5, 7]) {
            const other = String.fromCharCode(value.charCodeAt(at) ^ (1 << bit));
            const changed = value.slice(0, at) + other + value.slice(at + 1);
            const sameNumber = other.toLowerCase() === value[at];
            const rule = sameNumber ? "pcr-case" : null;
            judge.change(withField(set.bundle, path, changed), `${path} "${changed}"`, rule);
          }
      }
    expect(judge.reasons()).toEqual(["pcr-case", "pcr-not-selected"]);
  });

  test("request: another bank, another selection", () => {
    const judge = new Judge(set);
    const { bank, select } = set.bundle.request;
    for (const other of ["sha256", "sha384", "sha1", "SHA256", "", "__proto__"].filter((one) => one !== bank))
      judge.change(withField(set.bundle, "request.bank", other), `bank ${other}`, null);
    const selections = [
      ...select.map((_, i) => select.filter((_, at) => at !== i)),
      ...Array.from({ length: 24 }, (_, pcr) => pcr)
        .filter((pcr) => !select.includes(pcr))
        .map((pcr) => [...select, pcr]),
      [],
      [...select, 24],
      [...select, -1],
      [...select, 7.5],
      [...select, 1e308],
      [...select, "8"],
      select.map(String),
    ];
    for (const other of selections) judge.change(withField(set.bundle, "request.select", other), `${other}`, null);
    expect(judge.reasons()).toEqual([]);
  });
});

describe("what a bundle was made for, and what it is judged for", () => {
  const { bundle, profile } = softSet("P-256", "renewal");
  const intake = softSet("P-256", "intake");
  const codes = (value: unknown, purpose?: Purpose) =>
    verifyBundle(value, { ...(profile ? { profile } : {}), ...(purpose ? { purpose } : {}) }).codes;

  test("judged for the other purpose, its challenge is still the one that it was made with", () => {
    expect(codes(bundle, "intake")).toEqual(["not-hookos"]);
    expect(codes(intake.bundle, "renewal")).toEqual(["authority-not-accepted"]);
  });
  test("said to be made for the other, it is refused", () => {
    expect(codes({ ...bundle, purpose: "intake" })).toEqual(["quote-invalid"]);
    expect(codes({ ...intake.bundle, purpose: "renewal" })).toEqual(["quote-invalid"]);
  });
  test("without the key that its challenge is bound to, nothing binds its report", () => {
    expect(codes(withField(withField(bundle, "ldevidPublic", undefined), "certify", undefined))).toEqual([
      "quote-invalid",
    ]);
    expect(codes(withField(bundle, "ldevidPublic", undefined))).toEqual(["bad-request"]);
  });
});
