import { configDefaults, defineConfig } from "vitest/config";

/** Tests whose independent truth is openssl: left out, and said so by infra/tools/test.mjs, where there is none. */
const OPENSSL_TESTS = [
  "test/shared/attest/certificates.test.ts",
  "test/shared/attest/issuers.test.ts",
  "test/shared/attest/node-certificate.test.ts",
  "test/shared/adapters/ca/key-file.test.ts",
  "test/contracts/signer.openssl.test.ts",
  "test/shared/runtime/tls.test.ts",
];

/** Tests on a token of SoftHSM2, by pkcs11js and by pkcs11-tool; they need openssl too. */
const SOFTHSM_TESTS = ["test/contracts/signer.softhsm.test.ts", "test/shared/adapters/ca/pkcs11.test.ts"];

const withoutOpenssl = process.env.FLEETD_TEST_NO_OPENSSL === "1";
const withoutSoftHsm = withoutOpenssl || process.env.FLEETD_TEST_NO_SOFTHSM === "1";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [
      ...configDefaults.exclude,
      ...(withoutOpenssl ? OPENSSL_TESTS : []),
      ...(withoutSoftHsm ? SOFTHSM_TESTS : []),
    ],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
