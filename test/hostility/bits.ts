import { expect } from "vitest";
import { judgeBoot } from "../../shared/attest/boot.ts";
import { type BundleResult, verifyBundle } from "../../shared/attest/bundle.ts";
import { readCommandLine } from "../../shared/attest/report.ts";
import type { GoodSet } from "./evidence.ts";
import { SELECT } from "./evidence.ts";
import { bytesAt, factsOf, flipped, withBytes } from "./fields.ts";
import { type Harmless, harmlessEnds, harmlessInAk, harmlessInLog, type LogRules } from "./harmless.ts";
import { BANKS } from "./logs.ts";

/** What a set answers to changes: refused, or accepted by a rule that is counted. */
export class Judge {
  readonly set: GoodSet;
  readonly before: BundleResult;
  readonly facts: string;
  readonly rules = new Map<Harmless, number>();
  readonly unexplained: string[] = [];

  constructor(set: GoodSet) {
    this.set = set;
    this.before = this.verify(set.bundle);
    expect([this.before.verdict, this.before.codes]).toEqual(["accepted", []]);
    this.facts = factsOf(this.before);
  }

  verify(bundle: unknown): BundleResult {
    const { profile } = this.set;
    return verifyBundle(bundle, profile === null ? {} : { profile });
  }

  /** Judges one change: an acceptance is noted where no rule explains it, or where it says anything else than before. */
  change(bundle: unknown, what: string, rule: Harmless | null): void {
    // The quote's stage reads no log, so a log is judged first without it: most of the time is in the signatures.
    if (what.startsWith("eventLog") && this.logRefused(bytesAt(bundle, "eventLog"))) return;
    const after = this.verify(bundle);
    if (after.verdict !== "accepted") {
      if (after.codes.length === 0) this.unexplained.push(`${what}: refused without a code`);
      return;
    }
    const same = factsOf(after) === this.facts;
    if (rule === null || !same) this.unexplained.push(`${what}: accepted, ${same ? "the same" : "another"} result`);
    else this.rules.set(rule, (this.rules.get(rule) ?? 0) + 1);
  }

  /** The rule, if any, by which a bit of a field may be another. */
  ruleOf(field: string): (bit: number) => Harmless | null {
    const { bundle } = this.set;
    const tpm2b = this.sizePrefixed(field);
    if (field.startsWith("ekCertificates")) return () => "ek-certificate";
    if (field === "akPublic") return (bit) => harmlessInAk((bit >> 3) + (tpm2b ? 0 : 2));
    if (field !== "eventLog") return () => null;
    const rule = harmlessInLog(bytesAt(bundle, "eventLog"), this.logRules());
    return (bit) => rule(bit >> 3);
  }

  private logRules(): LogRules {
    const { bundle, profile } = this.set;
    return {
      bankId: BANKS[bundle.request.bank].id,
      judged: profile === null ? SELECT.filter((pcr) => pcr < 8) : SELECT,
    };
  }

  private logRefused(eventLog: Uint8Array): boolean {
    const { bundle, profile } = this.set;
    const verdict = judgeBoot({
      eventLog,
      bank: bundle.request.bank,
      select: bundle.request.select,
      pcrs: bundle.pcrs[bundle.request.bank] ?? {},
      profile,
      withoutProfile: true,
      purpose: bundle.purpose ?? "intake",
      secureBoot: bundle.secureBoot ?? null,
      commandLine: bundle.report ? readCommandLine(bytesAt(bundle, "report")) : null,
      attest: null,
    });
    return verdict.result === "fail" && verdict.codes.length > 0;
  }

  bits(field: string, chosen?: readonly number[]): void {
    const bytes = bytesAt(this.set.bundle, field);
    const rule = this.ruleOf(field);
    const all = chosen ?? Array.from({ length: bytes.length * 8 }, (_, bit) => bit);
    for (const bit of all)
      this.change(withBytes(this.set.bundle, field, flipped(bytes, bit)), `${field} bit ${bit}`, rule(bit));
  }

  /** Prefixes of a field; of a certificate that is shown and judges nothing, none is refused. */
  prefixes(field: string, chosen?: readonly number[]): void {
    const bytes = bytesAt(this.set.bundle, field);
    const ends = field === "eventLog" ? harmlessEnds(bytes, this.logRules()) : [];
    for (const length of chosen ?? bytes.keys()) {
      const shown = field.startsWith("ekCertificates") ? "ek-certificate" : null;
      const rule = ends.includes(length) ? "pcr-not-judged" : shown;
      this.change(withBytes(this.set.bundle, field, bytes.slice(0, length)), `${field} of ${length} bytes`, rule);
    }
  }

  trailing(field: string, octets: readonly number[]): void {
    const bytes = bytesAt(this.set.bundle, field);
    const rule = field.startsWith("ekCertificates") ? "ek-certificate" : null;
    for (const octet of octets)
      this.change(withBytes(this.set.bundle, field, Uint8Array.from([...bytes, octet])), `${field} + ${octet}`, rule);
  }

  /** Asserts that each acceptance had its reason, and returns the reasons. */
  reasons(): Harmless[] {
    expect(this.unexplained.slice(0, 20)).toEqual([]);
    return [...this.rules.keys()].sort();
  }

  private sizePrefixed(field: string): boolean {
    const bytes = bytesAt(this.set.bundle, field);
    return (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0) === bytes.length - 2;
  }
}
