import { describe, expect, test } from "vitest";
import { EV, eventTypeName } from "../../shared/formats/eventlog/event-types.ts";
import { answerTo, codesFor } from "./attack.ts";
import { BOOT_ATTACKS } from "./boot-attacks.ts";
import { QUOTE_ATTACKS } from "./quote-attacks.ts";
import { RETYPED, RETYPED_ELSEWHERE } from "./retyped.ts";
import { STRAY_BYTES } from "./stray-bytes.ts";

const known = answerTo({});

/** The facts that a machine could gain by: who vouched for what ran, in which state. */
const gained = ({ boot }: typeof known) =>
  boot && [boot.authorities, boot.secureBoot, boot.dbxHash, boot.sbatLevel, boot.bootProven, boot.profile];

describe.each([
  ["measured and logged", BOOT_ATTACKS],
  ["quoted and reported", QUOTE_ATTACKS],
  ["bytes behind an event's data", STRAY_BYTES],
])("%s", (_, rows) => {
  test.each(Object.entries(rows))("%s", (_name, [attack, answer]) => {
    const result = answerTo(attack);
    const reasons = result.checks.filter((check) => !check.ok).map((check) => `${check.name}: ${check.seen}`);
    expect(codesFor(attack), reasons.join("\n")).toBe(answer);
    if (answer === "accepted") expect(gained(result)).toEqual(gained(known));
  });
});

describe("an event's type is under no digest", () => {
  test("in PCR 7 any other type is refused", () => {
    const types = Object.values(EV).length;
    const accepted = RETYPED.filter(([, , attack]) => codesFor(attack) === "accepted");
    expect(accepted.map(([name, type]) => `${name} as ${eventTypeName(type)}`)).toEqual([
      "SecureBoot as EV_EFI_VARIABLE_DRIVER_CONFIG",
      "PK as EV_EFI_VARIABLE_DRIVER_CONFIG",
      "KEK as EV_EFI_VARIABLE_DRIVER_CONFIG",
      "db as EV_EFI_VARIABLE_DRIVER_CONFIG",
      "dbx as EV_EFI_VARIABLE_DRIVER_CONFIG",
      "separator as EV_SEPARATOR",
      "authority db as EV_EFI_VARIABLE_AUTHORITY",
      "authority SbatLevel as EV_EFI_VARIABLE_AUTHORITY",
    ]);
    expect(RETYPED.length).toBe(8 * types);
  });

  test("elsewhere it says nothing, unless it denies the measurement or claims an authority", () => {
    for (const [name, type, attack] of RETYPED_ELSEWHERE) {
      const result = answerTo(attack);
      const what = `${name} as ${eventTypeName(type)}`;
      if (type === EV.EV_EFI_VARIABLE_AUTHORITY) expect(result.codes, what).toEqual(["authority-not-accepted"]);
      // PCR 8 is read by nobody.
      else if (type === EV.EV_NO_ACTION && name !== "PCR 8") expect(result.codes, what).toContain("event-log-mismatch");
      else expect([result.verdict, gained(result)], what).toEqual(["accepted", gained(known)]);
    }
  });
});
