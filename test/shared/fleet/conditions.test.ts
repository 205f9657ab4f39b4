import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CONDITIONS, conditionLabels, wordsOf } from "../../../shared/fleet/condition.ts";
import type { ConditionKind } from "../../../shared/fleet/conditions/_kind.ts";
import { refusalWords } from "../../../shared/fleet/conditions/refusals.ts";

const kinds: readonly (readonly [string, ConditionKind])[] = Object.entries(CONDITIONS);
const pairs = kinds.flatMap(([type, kind]) =>
  Object.entries(kind.reasons).map(([code, one]) => [type, code, one] as const),
);

/** Begins as a sentence, or with a setting's, a field's or a command's name, and ends as one. */
const SENTENCES = /^([A-Z]|[a-z]+(_[a-z]+)+ |fleetd )[^\n]*\.$/;

describe("the list of conditions", () => {
  it.each(kinds)("%s says what it means, and has reasons", (_type, kind) => {
    expect(kind.means).toMatch(SENTENCES);
    expect(Object.keys(kind.reasons)).not.toEqual([]);
  });

  it.each(pairs)("%s/%s is a code with whole sentences", (type, code, { means, who, clears }) => {
    expect(type).toMatch(/^([A-Z][A-Za-z]+)$/);
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(means).toMatch(SENTENCES);
    expect(clears).toMatch(SENTENCES);
    expect(["owner", "operator", "machine", "fleetd"]).toContain(who);
    expect(`${means} ${clears}`).not.toMatch(/ {2}|;\.|\.\.|e\.g\./);
  });

  it("has words for what it lists, and none for what an older or newer fleetd wrote", () => {
    expect(wordsOf("RequestWaits", "slot")).toMatchObject({ who: "fleetd", level: "warning" });
    expect(wordsOf("RequestWaits", "disk-serial-missing")?.who).toBe("owner");
    for (const [type, code] of [
      ["RequestWaits", "of tomorrow"],
      ["Tomorrow", "slot"],
      ["toString", "slot"],
      ["RequestWaits", "toString"],
    ] as const) {
      expect(wordsOf(type, code)).toBeNull();
      expect(conditionLabels({ type, reason: code })).toEqual({ type: "unlisted", reason: "unlisted" });
    }
    expect(refusalWords("toString")).toBe("toString");
  });

  it("has the codes by which a boot is refused, and no others", () => {
    const judging = ["boot", "authority", "replay", "secure-boot"].map((name) =>
      readFileSync(new URL(`../../../shared/attest/${name}.ts`, import.meta.url), "utf8"),
    );
    const codes = new Set(
      judging.join("\n").match(/"(pcr|event-log|secure-boot|validation|profile|authority|not|quote)-[a-z-]+"/g) ?? [],
    );
    const named = [...codes]
      .map((one) => one.slice(1, -1))
      .filter((one) => !/^(pcr-zero|profile-bank|authority-before-separator)$/.test(one));
    expect([...new Set([...named, "pcr-zero"])].sort()).toEqual(
      Object.keys(CONDITIONS.AttestationFailed.reasons).sort(),
    );
  });
});
