import { pass } from "../../shared/engine/pass.ts";
import { classesFault } from "../../shared/engine/policy-check.ts";
import { readSettings } from "../../shared/runtime/config.ts";
import { wire } from "../../shared/runtime/wire.ts";

// The scheduled function: one pass, then it exits (systemd timer, CronJob). Exit 1 where a device's steps failed.
try {
  const settings = readSettings(process.env);
  if (settings.FLEET_REDIS_URL === undefined)
    throw new Error(
      "FLEET_REDIS_URL is needed: the in-process store of functions/serve cannot be shared with this process",
    );
  const { deps } = await wire(settings, classesFault);
  const report = await pass(deps.world);
  process.stdout.write(`${JSON.stringify(report)}\n`);
  process.exit(report.failed > 0 ? 1 : 0);
} catch (error) {
  process.stderr.write(`the pass failed: ${(error as Error).message}\n`);
  process.exit(1);
}
