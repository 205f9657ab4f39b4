import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runTinkAttest } from "../../../infra/lab/machine/tink-attest.ts";
import { missingTools, SwTpm } from "../../../infra/lab/tpm/swtpm.ts";
import { attestSuite } from "./attest-suite.ts";

// Only where the caller says that this machine has no swtpm: a suite that vanishes by itself proves nothing.
const waived = process.env.FLEETD_TEST_NO_SWTPM === "1";

describe("swtpm", () => {
  test("is installed here, or FLEETD_TEST_NO_SWTPM=1 says that it is not", () => {
    expect(waived ? [] : missingTools(), "install these, or set FLEETD_TEST_NO_SWTPM=1").toEqual([]);
  });
});

if (!waived)
  attestSuite("tink-attest on swtpm", async (folder) => {
    const tpm = await SwTpm.open(folder, join(dirname(folder), "ca"));
    return { tpm, certificates: 2, run: (options) => runTinkAttest(tpm.tcti, options), close: () => tpm.close() };
  });
