import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "../../../infra/lab/world/ports.ts";
import { type PeerProcess, run, startProcess, untilReady } from "../_common/process.ts";

/** A PostgreSQL of its own on loopback, durability off, with a database `netbox` of the account `netbox`. */
export interface Postgres {
  readonly port: number;
  /** Environment of psql, pg_dump and pg_restore. */
  readonly env: Readonly<Record<string, string>>;
  readonly process: PeerProcess;
  /** Fast stop: sessions are ended. */
  stop(): Promise<void>;
  /** Starts it again with the same data, on the same port. */
  start(): Promise<void>;
}

const QUICK = ["fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off", "max_connections=60"];
const ACCOUNT = "postgres";

/** PostgreSQL refuses to run as root: then it runs as `postgres`, who must be able to enter the folder. */
export async function startPostgres(bin: string, folder: string): Promise<Postgres> {
  const home = join(folder, "postgres");
  const data = join(home, "data");
  const log = join(folder, "postgres.log");
  mkdirSync(home);
  const as = await account(home);
  await run(join(bin, "initdb"), ["-D", data, "-A", "trust", "-U", "netbox", "-E", "UTF8", "--no-sync"], {
    ...as,
    cwd: home,
    env: { LC_ALL: "C.UTF-8" },
  });
  const port = await freePort();
  const settings = [...QUICK, "listen_addresses=127.0.0.1", `unix_socket_directories=${home}`];
  const env = { PGHOST: "127.0.0.1", PGPORT: `${port}`, PGUSER: "netbox" };
  const launch = async () => {
    const server = ["-D", data, "-p", `${port}`, ...settings.flatMap((setting) => ["-c", setting])];
    const launched = startProcess("postgres", join(bin, "postgres"), server, log, { ...as, cwd: home });
    const answers = () => run(join(bin, "pg_isready"), ["-q"], { env }).then(() => true);
    await untilReady(launched, log, answers);
    return launched;
  };
  let server = await launch();
  await run(join(bin, "createdb"), ["-T", "template0", "netbox"], { env });
  return {
    port,
    env: { ...env, PGDATABASE: "netbox" },
    get process() {
      return server;
    },
    stop: () => server.stop("SIGINT"),
    async start() {
      server = await launch();
    },
  };
}

async function account(home: string): Promise<{ user?: string }> {
  if (process.getuid?.() !== 0) return {};
  const ids = await Promise.all(["-u", "-g"].map((which) => run("id", [which, ACCOUNT])));
  const [uid = -1, gid = -1] = ids.map(Number);
  chmodSync(dirname(home), 0o711);
  chownSync(home, uid, gid);
  return { user: ACCOUNT };
}
