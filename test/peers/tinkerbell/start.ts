import { mkdirSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { freePort } from "../../../infra/lab/world/ports.ts";
import { type PeerProcess, startProcess, untilReady } from "../_common/process.ts";
import { type AgentDoor, openAgentDoor } from "./agent-door.ts";
import { installTinkerbell } from "./install.ts";

export interface TinkerbellOptions {
  /** Of an administrator of Tinkerbell's API, which has the CRDs and the namespace. */
  readonly kubeconfigFile: string;
  readonly namespace: string;
  /** How often a Machine's power state is read, in Go's words: 30m where nothing is said. */
  readonly powerCheckInterval?: string;
  readonly bmcConnectTimeout?: string;
}

/** A Tink server, a Tink controller and a Rufio. */
export interface RealTinkerbell {
  /** Of the Tink server, for gRPC. */
  readonly grpcUrl: string;
  /** The same for the lab's agents. */
  readonly url: string;
  readonly process: PeerProcess;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** Starts them as one process, as its Helm chart does; without what serves DHCP, TFTP, metadata and consoles. */
export async function startTinkerbell(folder: string, options: TinkerbellOptions): Promise<RealTinkerbell> {
  const program = await installTinkerbell();
  mkdirSync(folder, { recursive: true });
  const [grpcPort, httpPort, httpsPort] = [await freePort(), await freePort(), await freePort()];
  const flags = {
    backend: "kube",
    "backend-kube-config": options.kubeconfigFile,
    "backend-kube-namespace": options.namespace,
    "enable-smee": "false",
    "enable-tootles": "false",
    "enable-secondstar": "false",
    "enable-ui": "false",
    // What is tested is made by the manifests of this repository.
    "enable-crd-migrations": "false",
    "bind-address": "127.0.0.1",
    "public-ipv4": "127.0.0.1",
    "http-port": `${httpPort}`,
    "https-port": `${httpsPort}`,
    "tink-server-bind-addr": "127.0.0.1",
    "tink-server-bind-port": `${grpcPort}`,
    "rufio-power-check-interval": options.powerCheckInterval ?? "30m",
    "rufio-bmc-connect-timeout": options.bmcConnectTimeout ?? "10s",
  };
  const log = join(folder, "tinkerbell.log");
  const words = Object.entries(flags).map(([key, value]) => `--${key}=${value}`);
  const tinkerbell = startProcess("tinkerbell", program, words, log);
  let door: AgentDoor;
  try {
    await untilReady(tinkerbell, log, () => accepts(grpcPort), 60_000);
    door = await openAgentDoor(`http://127.0.0.1:${grpcPort}`);
  } catch (error) {
    await tinkerbell.stop();
    throw error;
  }
  return {
    grpcUrl: `http://127.0.0.1:${grpcPort}`,
    url: door.url,
    process: tinkerbell,
    pids: [tinkerbell.pid],
    async stop() {
      await door.close();
      await tinkerbell.stop();
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(port, "127.0.0.1", () => {
      connection.destroy();
      resolve(true);
    });
    connection.on("error", () => resolve(false));
  });
}
