import { expect, test } from "vitest";
import { missingTools } from "../../infra/lab/tpm/swtpm.ts";
import { readRecorded } from "../vectors/to-bundle.ts";
import { extendsOf, manifestFiles, recordedSet } from "./sets.ts";
import { SoftwareTpm } from "./software.ts";
import { recordedSuite } from "./suite.ts";
import { SwtpmByTools } from "./swtpm.ts";

const TITLE = "swtpm over HTTP";

test.each(manifestFiles("ok-"))(
  "%s: its log, extended, gives the values that swtpm quoted when it was recorded",
  async (file) => {
    const { bank, eventLog } = recordedSet(file);
    const recorded = readRecorded(file).pcrs as Readonly<Record<string, string>>;
    const tpm = await SoftwareTpm.open();
    await tpm.powerOn(extendsOf(eventLog));
    const { values } = await tpm.quote(
      tpm.keys().ak,
      [{ bank, pcrs: Object.keys(recorded).map(Number) }],
      Buffer.alloc(32),
    );
    await tpm.close();
    expect(values).toEqual({ [bank]: recorded });
  },
);

// Only where the caller says that this machine has no swtpm: a suite that vanishes by itself proves nothing.
if (process.env.FLEETD_TEST_NO_SWTPM === "1") {
  process.stderr.write(`${TITLE}: not run, FLEETD_TEST_NO_SWTPM=1\n`);
} else {
  test("swtpm is installed here, or FLEETD_TEST_NO_SWTPM=1 says that it is not", () => {
    expect(missingTools()).toEqual([]);
  });
  recordedSuite(TITLE, () => SwtpmByTools.open());
}
