import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { clientOf, type LabClient } from "../kubernetes/client.ts";
import { fleetdEnv } from "./fleetd-env.ts";
import { machinesOptions } from "./machines.ts";
import { describeCluster, type Material, makeMaterial } from "./material.ts";
import { type LabPaths, labPaths } from "./paths.ts";
import { freePorts } from "./ports.ts";
import { type LabProcess, startProcess } from "./process.ts";
import { applyTemplates } from "./templates.ts";
import { callAdmin, startTimer } from "./timer.ts";
import { type Found, findTools } from "./tools.ts";

export const ROLE = "fleet-node";
export const NAMESPACE = "tinkerbell";

export interface LabOptions {
  readonly state: string;
  readonly classes: string;
  readonly profiles: string | null;
  /** Milliseconds between two passes; 0: none by themselves. */
  readonly passEveryMs: number;
  readonly onFleetdLine?: (line: string) => void;
  readonly onMachineLine?: (line: string) => void;
  /** Environment of fleetd on top of the lab's: tests sabotage or shorten by it. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another entry than functions/serve.ts: tests start a sabotaged one. */
  readonly serve?: readonly string[];
}

export interface Lab {
  readonly paths: LabPaths;
  readonly found: Found;
  readonly material: Material;
  readonly urls: {
    readonly device: string;
    readonly admin: string;
    readonly metrics: string;
    readonly netbox: string;
    readonly machines: string;
  };
  readonly redisUrl: string | null;
  readonly classes: readonly string[];
  readonly tinkerbell: LabClient;
  readonly cluster: LabClient;
  readonly processes: readonly LabProcess[];
  stop(): Promise<void>;
}

const entry = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const node = process.execPath;

/** Starts all peers and fleetd itself, each as its own process, and writes lab.json when everything answers. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const paths = labPaths(options.state);
  const found = findTools();
  const material = makeMaterial(paths);
  const processes: LabProcess[] = [];
  const stops: (() => Promise<void>)[] = [];
  const start = async (
    name: string,
    command: readonly string[],
    more: Partial<Parameters<typeof startProcess>[2]> = {},
  ) => {
    const started = await startProcess(name, command, { log: paths.log(name), ...more });
    processes.push(started);
    return started;
  };
  const stop = async () => {
    for (const s of stops.reverse()) await s();
    for (const p of [...processes].reverse()) await p.stop();
  };
  const startEntry = (
    name: string,
    path: string,
    json: unknown,
    more: Partial<Parameters<typeof startProcess>[2]> = {},
  ) => {
    writeFileSync(paths.options(name), `${JSON.stringify(json, null, 2)}\n`, { mode: 0o600 });
    return start(name, [node, entry(path), paths.options(name)], more);
  };
  try {
    const [devicePort = 0, adminPort = 0, metricsPort = 0, bmcPort = 0, redisPort = 0] = await freePorts(5);
    const admin = `https://127.0.0.1:${adminPort}`;
    const kube = (kinds: "tinkerbell" | "cluster") =>
      startEntry(kinds, "infra/lab/kubernetes/main.ts", {
        kinds,
        tokens: [
          { token: material.kubeTokens.fleetd, user: "fleetd", groups: [] },
          { token: material.kubeTokens.admin, user: "admin", groups: ["system:masters"] },
        ],
        kubeconfigs: [
          { file: paths.kubeconfig[kinds], token: material.kubeTokens.fleetd, namespace: NAMESPACE },
          {
            file: paths.at(`secrets/${kinds}-admin.kubeconfig`),
            token: material.kubeTokens.admin,
            namespace: NAMESPACE,
          },
        ],
      });
    const [netbox] = await Promise.all([
      startEntry("netbox", "infra/lab/netbox/main.ts", {
        role: ROLE,
        webhook: { url: `${admin}/webhooks/netbox`, secret: material.webhookSecret, caFile: paths.tls.ca },
        tokens: [
          { token: material.ownerToken, user: "owner", write: true },
          { token: material.fleetdToken, user: "fleetd", write: true, scope: "fleetd" },
        ],
      }),
      kube("tinkerbell"),
      kube("cluster"),
    ]);
    const tinkerbell = clientOf(paths.at("secrets/tinkerbell-admin.kubeconfig"));
    const cluster = clientOf(paths.at("secrets/cluster-admin.kubeconfig"));
    stops.push(async () => {
      tinkerbell.client.close();
      cluster.client.close();
    });
    await applyTemplates(tinkerbell.client, NAMESPACE);
    const classes = describeCluster(paths, options, cluster);
    const redisUrl = found.redis === null ? null : `redis://127.0.0.1:${redisPort}`;
    if (found.redis !== null) await startRedis(start, found.redis, redisPort);
    const tink = await startEntry("tink", "infra/lab/tink/main.ts", {
      kubeconfigFile: paths.at("secrets/tinkerbell-admin.kubeconfig"),
      bmcUrl: `http://127.0.0.1:${bmcPort}/`,
      pollMs: 150,
      powerCheckIntervalMs: 1_000,
      taskTimeoutMs: 5_000,
      agentWaitMs: 1_000,
    });
    const deviceUrl = `https://127.0.0.1:${devicePort}`;
    const machines = await startEntry(
      "machines",
      "infra/lab/machine/main.ts",
      machinesOptions(paths, material, { bmcPort, tinkUrl: tink.url, deviceUrl, swtpm: found.swtpm }),
      options.onMachineLine === undefined ? {} : { onLine: options.onMachineLine },
    );
    const env = {
      ...fleetdEnv(paths, { netboxUrl: netbox.url, netboxRole: ROLE, devicePort, adminPort, metricsPort, redisUrl }),
      ...options.env,
    };
    const serve = options.serve ?? [node, entry("functions/serve.ts")];
    await start("fleetd", serve, {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      ...(options.onFleetdLine === undefined ? {} : { onLine: options.onFleetdLine }),
    });
    // fleetd's memory begins with its first pass; what is asked before counts as older than it and is held.
    await callAdmin(paths, `${admin}/reconcile`, material.adminToken, "POST", "{}");
    if (options.passEveryMs > 0) stops.push(startTimer(paths, admin, material.adminToken, options.passEveryMs));
    const urls = {
      device: deviceUrl,
      admin,
      metrics: `http://127.0.0.1:${metricsPort}`,
      netbox: netbox.url,
      machines: machines.url,
    };
    return {
      paths,
      found,
      material,
      urls,
      redisUrl,
      classes,
      tinkerbell: tinkerbell.client,
      cluster: cluster.client,
      processes,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startRedis(
  start: (name: string, command: readonly string[]) => Promise<LabProcess>,
  program: string,
  port: number,
): Promise<void> {
  // redis-server has no ready line of ours: a shell says it once the port answers.
  const script = `"$0" --port "$1" --bind 127.0.0.1 --save "" --appendonly no --daemonize no --loglevel warning & pid=$!
trap 'kill $pid 2>/dev/null; wait $pid; exit 0' TERM INT
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if (echo PING >"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then echo "ready redis://127.0.0.1:$1"; break; fi
  sleep 0.1
done
wait $pid`;
  await start("redis", ["bash", "-c", script, program, String(port)]);
}
