import { setTimeout as sleep } from "node:timers/promises";
import { clientOf } from "../kubernetes/client.ts";
import { reconcileWorkflows } from "./controller.ts";
import { pathsOf } from "./paths.ts";
import { LabRufio } from "./rufio.ts";
import { startTinkServer } from "./server.ts";

export interface LabTinkOptions {
  /** Tinkerbell's Kubernetes API; the context's namespace is the one that is served. */
  readonly kubeconfigFile: string;
  /** The lab's BMC responders; "" where every Machine names its own. */
  readonly bmcUrl: string;
  /** Of the Tink server; 0 or absent: the kernel chooses. */
  readonly port?: number;
  readonly pollMs?: number;
  readonly powerCheckIntervalMs?: number;
  readonly taskTimeoutMs?: number;
  /** How long an agent's request waits for work. */
  readonly agentWaitMs?: number;
}

export interface LabTink {
  /** Of the Tink server, for agents. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the Tink controller, Rufio and the Tink server. */
export async function startLabTink(options: LabTinkOptions): Promise<LabTink> {
  const { client, namespace } = clientOf(options.kubeconfigFile);
  const paths = pathsOf(namespace);
  const pollMs = options.pollMs ?? 200;
  const rufio = new LabRufio(client, paths, {
    bmcUrl: options.bmcUrl,
    powerCheckIntervalMs: options.powerCheckIntervalMs ?? 30 * 60_000,
    taskTimeoutMs: options.taskTimeoutMs ?? 10 * 60_000,
  });
  const server = await startTinkServer(client, paths, namespace, {
    port: options.port ?? 0,
    waitMs: options.agentWaitMs ?? 5_000,
  });
  const stop = new AbortController();
  const loops = [
    repeat(() => reconcileWorkflows(client, paths, namespace), pollMs, stop.signal),
    repeat(() => rufio.reconcileJobs(), pollMs, stop.signal),
    repeat(() => rufio.reconcileMachines(), pollMs, stop.signal),
  ];
  return {
    url: server.url,
    async close() {
      stop.abort();
      await Promise.all(loops);
      await server.close();
      client.close();
    },
  };
}

/** A pass that fails (the API is down, or somebody wrote first) is done again like any other. */
async function repeat(pass: () => Promise<void>, pollMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pass().catch(() => undefined);
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
}
