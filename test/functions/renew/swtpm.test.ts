import { expect, test } from "vitest";
import { missingTools } from "../../../infra/lab/tpm/swtpm.ts";
import { renewalSuite } from "./suite.ts";
import { SwtpmNode } from "./swtpm-node.ts";

const ECC = "ecc256:ecdsa-sha256:null";

// Only where the caller says that this machine has no swtpm: a suite that vanishes by itself proves nothing.
if (process.env.FLEETD_TEST_NO_SWTPM === "1") {
  process.stderr.write("renewal by swtpm: not run, FLEETD_TEST_NO_SWTPM=1\n");
} else {
  test("swtpm is installed here, or FLEETD_TEST_NO_SWTPM=1 says that it is not", () => {
    expect(missingTools()).toEqual([]);
  });
  renewalSuite("renewal by swtpm with an RSA LAK", () => SwtpmNode.open());
  renewalSuite("renewal by swtpm with an RSA LDevID (PSS) and an ECC LAK", () =>
    SwtpmNode.open({ lak: ECC, ldevid: "rsa2048:rsapss-sha256:null" }),
  );
}
