import { existsSync } from "node:fs";
import { installPythonPackages } from "../_common/python.ts";
import { needProgram } from "../_common/tools.ts";

const LOCK = "test/peers/netbox/requirements.txt";

/** The programs of one NetBox with its database and its queue. */
export interface NetBoxPrograms {
  /** Folder of the virtual environment's programs: python, netbox, gunicorn. */
  readonly bin: string;
  /** Folder of PostgreSQL's server programs: initdb, postgres, pg_restore. */
  readonly postgresBin: string;
  readonly redisServer: string;
}

/** Installs NetBox 4.7.3 by our lock file; PostgreSQL 15 or later and Redis must be there. */
export async function installNetBox(): Promise<NetBoxPrograms> {
  const programs = {
    postgresBin: findPostgres(),
    redisServer: needProgram("redis-server", "apt install redis-server"),
  };
  return { bin: await installPythonPackages("netbox", LOCK), ...programs };
}

const OLDEST_POSTGRES = 15;
const NEWEST_POSTGRES = 20;

function findPostgres(): string {
  for (let version = NEWEST_POSTGRES; version >= OLDEST_POSTGRES; version--) {
    const bin = `/usr/lib/postgresql/${version}/bin`;
    if (existsSync(`${bin}/initdb`)) return bin;
  }
  throw new Error(`PostgreSQL ${OLDEST_POSTGRES} or later is missing: apt install postgresql`);
}
