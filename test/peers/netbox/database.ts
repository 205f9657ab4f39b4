import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RedisPeer, startRedis } from "../redis/start.ts";
import type { NetBoxPrograms } from "./install.ts";
import { type Postgres, startPostgres } from "./postgres.ts";

/** What a NetBox stands on: its database (empty), its Redis, and the environment of its programs. */
export interface NetBoxGround {
  readonly postgres: Postgres;
  readonly redis: RedisPeer;
  readonly env: Readonly<Record<string, string>>;
}

export async function startGround(programs: NetBoxPrograms, folder: string): Promise<NetBoxGround> {
  const [postgres, redis] = await Promise.all([
    startPostgres(programs.postgresBin, folder),
    startRedis(programs.redisServer, folder),
  ]);
  const root = join(folder, "netbox");
  for (const name of ["conf", "media", "scripts", "reports", "static"])
    mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "conf", "__init__.py"), "");
  copyFileSync("test/peers/netbox/settings.py", join(root, "conf", "configuration.py"));
  const env = {
    NETBOX_ROOT: root,
    PEER_POSTGRES_PORT: `${postgres.port}`,
    PEER_REDIS_PORT: `${redis.port}`,
    PEER_NETBOX_SECRET: randomBytes(48).toString("base64url"),
  };
  return { postgres, redis, env };
}
