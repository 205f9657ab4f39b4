import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHANGES, MORE, type Row } from "./changes.ts";
import { type Answer, attest, type Machine, openedCode, reasons } from "./session.ts";
import { extendsOf, manifestFiles, type RecordedSet, recordedLog, recordedSet } from "./sets.ts";
import type { RecordedTpm } from "./tpm.ts";
import { RecordedWorld } from "./world.ts";

const GOOD = manifestFiles("ok-").filter((file) => !(file in CHANGES));

/** The recorded sets over HTTP, by a TPM that is extended with their logs. */
export function recordedSuite(name: string, open: () => Promise<RecordedTpm>): void {
  describe(name, () => {
    let tpm: RecordedTpm;
    let extended: Uint8Array | null = null;

    beforeAll(async () => {
      tpm = await open();
    });
    afterAll(async () => {
      await tpm?.close();
    });

    /** The machine after a boot that left this log; a boot takes time, so the last one is used again. */
    const booted = async (set: RecordedSet, log: Uint8Array): Promise<Machine> => {
      if (extended === null || !Buffer.from(extended).equals(log)) await tpm.powerOn(extendsOf(log));
      extended = log;
      return { tpm, keys: tpm.keys(set.akKind), eventLog: set.eventLog };
    };

    const within = async (world: RecordedWorld, work: () => Promise<void>) => {
      try {
        await work();
      } finally {
        await world.close();
      }
    };

    test.each(GOOD)("%s is attested, and told to install where its boot proves something", async (file) => {
      const set = recordedSet(file);
      const machine = await booted(set, set.eventLog);
      const ekDigests = tpm.eks.map((ek) => ek.digest);
      const world = await RecordedWorld.start(set, ekDigests);
      await within(world, async () => {
        const answer = await attest(world.url, machine);
        expect(reasons(answer)).toEqual([]);
        expect(world.bundles()).toMatchObject([{ device: "w1", profile: "recorded", verdict: answer.verdict }]);
        expect((await world.record())?.verdict).toMatchObject({ result: "pass", by: "intake" });
        expect(answer.verdict?.bootProven).toBe(set.secureBoot === "required");
        if (set.secureBoot === "off")
          expect([answer.step, answer.status, answer.code]).toEqual(["confirm", 403, "boot-unverified"]);
        else await expectInstall(machine, answer);
      });
      if (set.secureBoot === "required") return;
      const accepting = await RecordedWorld.start(set, ekDigests, { unverifiedBoot: "accept" });
      await within(accepting, async () => expectInstall(machine, await attest(accepting.url, machine)));
    });

    const expectInstall = async (machine: Machine, answer: Answer) => {
      expect([answer.step, answer.status, answer.body.outcome]).toEqual(["confirm", 200, "install"]);
      expect(await openedCode(machine, answer)).toMatch(/^[A-Z2-7]{26}$/);
    };

    test.each(["rsa", "ecc"] as const)("the %s AK signs no statement that another made", async (kind) => {
      const { ak, ldevid } = tpm.keys(kind);
      const forged = Buffer.concat([Buffer.from("ff544347", "hex"), Buffer.from("8018", "hex"), Buffer.alloc(100)]);
      await expect(tpm.sign(ak, forged)).rejects.toThrow(/0x3e0|TPM_RC_TICKET/i);
      expect((await tpm.sign(ldevid, forged)).length).toBeGreaterThan(64);
    });

    const run = async (row: Row, judge: (answer: Answer, world: RecordedWorld) => Promise<void>) => {
      const set = recordedSet(row.of);
      const machine = await booted(set, row.extended === undefined ? set.eventLog : recordedLog(row.extended));
      const { profile } = row.accepted === undefined ? set : recordedSet(row.accepted);
      const policy = { profile, secureBoot: row.secureBoot ?? set.secureBoot };
      // One EK is enough here: the sessions above prove all.
      const world = await RecordedWorld.start(
        policy,
        tpm.eks.slice(-1).map((ek) => ek.digest),
      );
      await within(world, async () => judge(await attest(world.url, machine, row.change), world));
    };

    test.each(Object.entries({ ...CHANGES, ...MORE }))("%s", async (_, row) => {
      await run(row, async (answer, world) => {
        const [step, status, code, because] = row.answer;
        const failed = reasons(answer);
        expect([answer.step, answer.status, answer.code], failed.join("\n")).toEqual([step, status, code]);
        expect(failed.find((reason) => because.test(reason)) ?? failed.join("\n")).toMatch(because);
        if (status === 200) return expect(Object.keys(answer.verdict?.pcrs ?? {})).not.toContain("10");
        const record = await world.record();
        expect([answer.body.ldevid, answer.body.lak, record?.config ?? null]).toEqual([undefined, undefined, null]);
        if (code === "quote-invalid") {
          // What stops before the log names itself alone, and changes nothing.
          expect(failed.length).toBe(1);
          expect([record, world.bundles()]).toEqual([null, []]);
        } else if (step === "evidence") {
          expect(record?.verdict).toMatchObject({ result: "fail", codes: answer.verdict?.codes });
          expect(world.bundles()).toMatchObject([{ verdict: answer.verdict }]);
        }
      });
    });
  });
}
