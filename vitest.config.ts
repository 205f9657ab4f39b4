import { configDefaults, defineConfig } from "vitest/config";

/** Tests whose independent truth is openssl: left out, and said so by infra/tools/test.mjs, where there is none. */
const OPENSSL_TESTS = [
  "test/shared/attest/certificates.test.ts",
  "test/shared/adapters/ca/key-file.test.ts",
  "test/shared/runtime/tls.test.ts",
];

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(process.env.FLEETD_TEST_NO_OPENSSL === "1" ? OPENSSL_TESTS : [])],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
