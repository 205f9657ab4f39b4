// Runs the tests. What is not installed here (Redis, swtpm) leaves its tests out and says so first; in CI it fails them.
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { join } from "node:path";

const has = (name) =>
  (process.env.PATH ?? "").split(":").some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

const env = { ...process.env };
const needs = [
  { what: "a Redis server", variable: "FLEETD_TEST_NO_REDIS", here: has("redis-server") || has("valkey-server") },
  {
    what: "swtpm with tpm2-tools, jq and curl",
    variable: "FLEETD_TEST_NO_SWTPM",
    here: ["swtpm", "swtpm_setup", "tpm2_quote", "jq", "curl"].every(has),
  },
  { what: "openssl", variable: "FLEETD_TEST_NO_OPENSSL", here: has("openssl") },
  {
    what: "SoftHSM2 with pkcs11-tool and a built pkcs11js",
    variable: "FLEETD_TEST_NO_SOFTHSM",
    here: ["softhsm2-util", "pkcs11-tool"].every(has) && existsSync("node_modules/pkcs11js/build/Release/pkcs11.node"),
  },
  { what: "Go", variable: "FLEETD_TEST_NO_GO", here: has("go"), alsoLeftOutInCi: true },
];
for (const { what, variable, here, alsoLeftOutInCi } of needs) {
  if (here) process.stderr.write(`tests: ${what} is here and is used\n`);
  else if (env.CI === undefined || alsoLeftOutInCi) {
    env[variable] = "1";
    process.stderr.write(`tests: ${what} is not installed: its tests are left out\n`);
  } else process.stderr.write(`tests: ${what} is not installed, and CI needs it: its tests will fail\n`);
}
const vitest = spawn("node_modules/.bin/vitest", ["run", ...process.argv.slice(2)], { stdio: "inherit", env });
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => vitest.kill(signal));
vitest.on("exit", (code) => process.exit(code ?? 1));
