import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Boot, type LabBank, measureBoot } from "../../../../infra/lab/machine/firmware.ts";
import { loadOptions } from "../../../../shared/attest/boot.ts";
import { replay } from "../../../../shared/attest/replay.ts";
import { secureBootFacts } from "../../../../shared/attest/secure-boot.ts";
import { readEventLog } from "../../../../shared/formats/eventlog/log.ts";
import { fakeAuthority } from "../../../fakes/authority.ts";

const authority = fakeAuthority("Lab boot authority").der;
const boot: Boot = { authority, dbCertificates: [authority], commandLine: "console=ttyS0 a=b", secureBoot: true };
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe("measureBoot", () => {
  test.each(["sha256", "sha384"] as const)("gives PCRs that its log replays to in %s", (bank) => {
    const banks: LabBank[] = ["sha256", "sha384"];
    const { eventLog, pcrs } = measureBoot({ ...boot, banks });
    const replayed = replay(readEventLog(eventLog), bank);
    expect(replayed.problems).toEqual([]);
    expect([...(pcrs[bank]?.keys() ?? [])].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 9]);
    for (const [pcr, value] of pcrs[bank] ?? []) expect(hex(replayed.pcrs.get(pcr) ?? value)).toBe(hex(value));
    expect(replayed.pcrs.size).toBe(pcrs[bank]?.size);
  });

  test("measures the authority that signed what boots, out of db", () => {
    const facts = secureBootFacts(readEventLog(measureBoot(boot).eventLog), "sha256");
    const sha256 = createHash("sha256").update(authority).digest("hex");
    expect(facts.problems).toEqual([]);
    expect(facts.secureBoot).toBe(true);
    expect(facts.authorities).toMatchObject([{ name: "db", sha256, beforeSeparator: false }]);
    expect([...facts.dbCertificates]).toEqual([sha256]);
    expect(facts.dbxHash).toMatch(/^[0-9a-f]{64}$/);
  });

  test("names no authority with Secure Boot off", () => {
    const facts = secureBootFacts(readEventLog(measureBoot({ ...boot, secureBoot: false }).eventLog), "sha256");
    expect(facts).toMatchObject({ secureBoot: false, authorities: [], problems: [] });
  });

  test("measures the command line first in PCR 9, as the kernel's stub does", () => {
    const measured = measureBoot(boot).extends.find((one) => one.pcr === 9);
    const digest = createHash("sha256").update(loadOptions(boot.commandLine)).digest("hex");
    expect(hex(measured?.digests.sha256 ?? new Uint8Array(0))).toBe(digest);
  });
});
