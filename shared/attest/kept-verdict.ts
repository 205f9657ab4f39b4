import { digestHex } from "../crypto/hash.ts";
import type { Verdict } from "./verdict.ts";

/**
 * One value for the set of authorities that firmware measured before PCR 7's separator (option ROMs, drivers); null
 * where the log proves nothing.
 * @see spec/20-verification.md "PCR 7 and boot policy", 2
 */
export function earlyAuthorities({
  authorities,
  secureBoot,
}: Pick<Verdict, "authorities" | "secureBoot">): string | null {
  if (secureBoot === null) return null;
  const early = authorities.filter((one) => one.beforeSeparator).map((one) => `${one.name} ${one.sha256}\n`);
  return digestHex("sha256", new TextEncoder().encode([...new Set(early)].sort().join("")));
}

/** What a record keeps of a verdict. */
export function keptVerdict<By extends "intake" | "renewal">(verdict: Verdict, by: By, atMs: number) {
  const { result, codes, dbxHash, sbatLevel } = verdict;
  return { result, by, atMs, codes: [...codes], dbxHash, sbatLevel, earlyAuthorities: earlyAuthorities(verdict) };
}
