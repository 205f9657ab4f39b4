import { expect, test } from "vitest";
import { CHANGES } from "./changes.ts";
import { manifestFiles } from "./sets.ts";
import { SoftwareTpm } from "./software.ts";
import { recordedSuite } from "./suite.ts";

test("every bad file of the manifest has its change", () => {
  const named = Object.keys(CHANGES).filter((file) => file.startsWith("bad-"));
  expect(named.sort()).toEqual(manifestFiles("bad-").sort());
});

recordedSuite("the software TPM over HTTP", () => SoftwareTpm.open());
