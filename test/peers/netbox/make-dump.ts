import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../_common/process.ts";
import { startGround } from "./database.ts";
import { DUMP } from "./dump.ts";
import { installNetBox } from "./install.ts";

// Makes netbox-4.7.3.dump: the database of a NetBox on which nothing but its own migrations ran (5 to 11 minutes).
// Usage: node test/peers/netbox/make-dump.ts
const programs = await installNetBox();
const folder = mkdtempSync(join(tmpdir(), "fleetd-netbox-dump-"));
chmodSync(folder, 0o755);
const { postgres, redis, env } = await startGround(programs, folder);
try {
  const begunMs = Date.now();
  await run(join(programs.bin, "netbox"), ["migrate", "--no-input"], { env });
  process.stdout.write(`migrated in ${Math.round((Date.now() - begunMs) / 1000)} s\n`);
  await run(join(programs.postgresBin, "pg_dump"), ["-Fc", "-Z9", "--no-owner", "-f", DUMP], { env: postgres.env });
} finally {
  await redis.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
