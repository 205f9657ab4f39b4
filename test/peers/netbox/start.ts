import { join } from "node:path";
import { freePort } from "../../../infra/lab/world/ports.ts";
import { type PeerProcess, run, startProcess, stopAll, untilReady } from "../_common/process.ts";
import type { RedisPeer } from "../redis/start.ts";
import { startGround } from "./database.ts";
import { DUMP } from "./dump.ts";
import { installNetBox } from "./install.ts";
import type { Postgres } from "./postgres.ts";

/** A real NetBox on loopback: empty but for its administrator, whose token is of this start alone. */
export interface RealNetBox {
  readonly url: string;
  readonly adminUser: string;
  readonly adminToken: string;
  readonly postgres: Postgres;
  readonly redis: RedisPeer;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const READY_MS = 180_000;

/** Restores the dump and starts web server and one worker (which sends webhooks), in the folder given. */
export async function startNetBox(folder: string): Promise<RealNetBox> {
  const programs = await installNetBox();
  const { postgres, redis, env } = await startGround(programs, folder);
  const started: PeerProcess[] = [];
  const stop = async () => {
    await stopAll(started);
    await Promise.all([redis.stop(), postgres.stop()]);
  };
  try {
    const restore = ["--no-owner", "-d", "netbox", DUMP];
    await run(join(programs.postgresBin, "pg_restore"), restore, { env: postgres.env });
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const start = (name: string, args: readonly string[]) => {
      const peer = startProcess(name, join(programs.bin, name), args, join(folder, `${name}.log`), {
        env,
        cwd: folder,
      });
      started.push(peer);
      return peer;
    };
    const web = ["--bind", `127.0.0.1:${port}`, "--workers", "2", "--threads", "3", "--timeout", "120"];
    const gunicorn = start("gunicorn", [...web, "--no-control-socket", "netbox.wsgi"]);
    start("netbox", ["rqworker", "high", "default", "low"]);
    const adminToken = await makeAdmin(join(programs.bin, "netbox"), env);
    const headers = { authorization: `Bearer ${adminToken}` };
    const answers = async () => (await fetch(`${url}/api/status/`, { headers })).ok;
    await untilReady(gunicorn, join(folder, "gunicorn.log"), answers, READY_MS);
    const pids = () => [...started.map((peer) => peer.pid), redis.process.pid, postgres.process.pid];
    return {
      url,
      adminUser: "admin",
      adminToken,
      postgres,
      redis,
      get pids() {
        return pids();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function makeAdmin(netbox: string, env: Readonly<Record<string, string>>): Promise<string> {
  const out = await run(
    netbox,
    ["shell", "--no-imports", "--command", "exec(open('test/peers/netbox/admin.py').read())"],
    { env },
  );
  const token = /^PEER_TOKEN (\S+)$/m.exec(out)?.[1];
  if (token === undefined) throw new Error("netbox shell made no token");
  return token;
}
