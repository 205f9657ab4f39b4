import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { AttestExit, AttestOptions } from "./attest-run.ts";

const SCRIPT = fileURLToPath(new URL("../../hookos/tink-attest", import.meta.url));

/** Runs infra/hookos/tink-attest on a TPM that tpm2-tools reach. */
export async function runTinkAttest(tcti: string, options: AttestOptions): Promise<AttestExit> {
  const child = spawn("/bin/sh", [SCRIPT], {
    // A group of its own: a power loss ends the tools that it runs as well.
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env.PATH,
      TPM2TOOLS_TCTI: tcti,
      FLEET_ATTEST_URL: options.url,
      FLEET_CA: options.caFile,
      FLEET_ROOT: options.root,
      FLEET_TRIES: String(options.tries),
      FLEET_TRY_GAP_SECONDS: String(options.gapSeconds),
    },
  });
  const powerLoss = () => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
  };
  if (options.signal.aborted) powerLoss();
  options.signal.addEventListener("abort", powerLoss, { once: true });
  createInterface({ input: child.stderr }).on("line", options.say);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  options.signal.removeEventListener("abort", powerLoss);
  return code === 0 || code === 2 ? code : 1;
}
