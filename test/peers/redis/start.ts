import { createConnection } from "node:net";
import { join } from "node:path";
import { freePort } from "../../../infra/lab/world/ports.ts";
import { type PeerProcess, startProcess, untilReady } from "../_common/process.ts";

/** A Redis or Valkey on a TCP port of loopback, without persistence unless asked for. */
export interface RedisPeer {
  readonly port: number;
  readonly url: string;
  readonly process: PeerProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>;
}

export async function startRedis(
  binary: string,
  folder: string,
  name = "redis",
  extra: readonly string[] = [],
): Promise<RedisPeer> {
  const port = await freePort();
  const log = join(folder, `${name}.log`);
  const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"];
  const launch = async () => {
    const launched = startProcess(name, binary, [...settings, ...extra], log);
    await untilReady(launched, log, () => answers(port));
    return launched;
  };
  let server = await launch();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return server;
    },
    stop: (signal) => server.stop(signal),
    async start() {
      server = await launch();
    },
  };
}

/** Tells whether it says PONG; while it loads or syncs it says something else. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(port, "127.0.0.1", () => connection.write("PING\r\n"));
    connection.on("error", () => resolve(false));
    connection.on("data", (data) => {
      connection.destroy();
      resolve(data.toString().startsWith("+PONG"));
    });
  });
}
