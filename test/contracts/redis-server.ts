import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A private Redis or Valkey on a unix socket, without persistence unless asked for. */
export interface RedisServer {
  readonly url: string;
  readonly pid: number;
  /** Ends the process and starts an empty one on the same socket. */
  restart(): Promise<void>;
  freeze(): void;
  thaw(): void;
  end(): Promise<void>;
  stop(): void;
}

/** The installed server, or null where there is none. */
export function findRedisServer(): string | null {
  for (const name of ["redis-server", "valkey-server"]) {
    try {
      execFileSync(name, ["--version"], { stdio: "ignore" });
      return name;
    } catch {
      // The next name may be there.
    }
  }
  return null;
}

export async function startRedisServer(binary: string, extra: readonly string[] = []): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "fleetd-redis-"));
  const socket = join(folder, "redis.sock");
  const settings = ["--port", "0", "--unixsocket", socket, "--unixsocketperm", "600", "--dir", folder];
  const quiet = ["--save", "", "--appendonly", "no", "--loglevel", "warning"];
  // It ends with us, also where we are killed.
  const tied = ["--pdeathsig", "KILL", "--", binary];
  const launch = () => spawn("setpriv", [...tied, ...settings, ...quiet, ...extra], { stdio: "ignore" });
  let child: ChildProcess = launch();
  await listening(socket);
  const end = async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await ended;
  };
  return {
    url: `unix://${socket}`,
    get pid() {
      return child.pid ?? -1;
    },
    async restart() {
      await end();
      child = launch();
      await listening(socket);
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    end,
    stop() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listening(socket: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const connection = createConnection(socket, () => resolve(true)).on("error", () => resolve(false));
      connection.on("connect", () => connection.destroy());
    });
    if (open) return;
    await sleep(25);
  }
  throw new Error("the Redis server does not listen");
}
