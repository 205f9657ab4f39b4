import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { clientOf, type LabClient } from "../kubernetes/client.ts";
import { fleetdEnv } from "./fleetd-env.ts";
import { machinesOptions } from "./machines.ts";
import { describeCluster, type Material, makeMaterial } from "./material.ts";
import { type LabPaths, labPaths } from "./paths.ts";
import { labPeers, NAMESPACE, type Peers, ROLE } from "./peers.ts";
import { freePorts } from "./ports.ts";
import { type LabProcess, type ProcessOptions, startProcess } from "./process.ts";
import { applyTemplates } from "./templates.ts";
import { callAdmin, startTimer } from "./timer.ts";
import { type Found, findTools } from "./tools.ts";

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
  /** The lab's own where none are named. */
  readonly peers?: Peers;
  /** How often HookOS tries to attest before it leaves it. */
  readonly attestTries?: number;
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
  readonly clusterAddress: { readonly url: string; readonly caPem: string };
  readonly processes: readonly LabProcess[];
  readonly peers: Pick<Peers, "bmc" | "obeys">;
  /** fleetd's settings. */
  readonly env: Readonly<Record<string, string>>;
  /** Kills fleetd with SIGKILL, waits, and starts it again with the same settings. */
  crashFleetd(pauseMs: number): Promise<void>;
  stop(): Promise<void>;
}

const ATTEST_TRIES = 5;
const entry = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const node = process.execPath;

/** Starts all peers and fleetd itself, each as its own process, and writes lab.json when everything answers. */
export async function startLab(options: LabOptions): Promise<Lab> {
  const paths = labPaths(options.state);
  const found = findTools();
  const made = makeMaterial(paths);
  const processes: LabProcess[] = [];
  const stops: (() => Promise<void>)[] = [];
  const start = async (name: string, command: readonly string[], more: Partial<ProcessOptions> = {}) => {
    const started = await startProcess(name, command, { log: paths.log(name), ...more });
    processes.push(started);
    return started;
  };
  const peers = options.peers ?? labPeers;
  const stop = async () => {
    for (const s of stops.reverse()) await s();
    for (const p of [...processes].reverse()) await p.stop();
    await peers.stop();
  };
  const startEntry = (name: string, path: string, json: unknown, more: Partial<ProcessOptions> = {}) => {
    writeFileSync(paths.options(name), `${JSON.stringify(json, null, 2)}\n`, { mode: 0o600 });
    return start(name, [node, entry(path), paths.options(name)], more);
  };
  try {
    const [devicePort = 0, adminPort = 0, metricsPort = 0, bmcPort = 0] = await freePorts(4);
    const admin = `https://127.0.0.1:${adminPort}`;
    const input = { paths, material: made, found, adminUrl: admin, start, startEntry };
    const { netboxUrl, ownerToken, redisUrl } = await peers.start(input);
    const material = { ...made, ownerToken };
    const tinkerbell = clientOf(paths.adminKubeconfig.tinkerbell);
    const cluster = clientOf(paths.adminKubeconfig.cluster);
    stops.push(async () => {
      tinkerbell.client.close();
      cluster.client.close();
    });
    await applyTemplates(tinkerbell.client, NAMESPACE, peers.bmc.type);
    const classes = describeCluster(paths, options, cluster);
    const tinkUrl = await peers.startTink(input, `http://127.0.0.1:${bmcPort}/`);
    const deviceUrl = `https://127.0.0.1:${devicePort}`;
    const machines = await startEntry(
      "machines",
      "infra/lab/machine/main.ts",
      machinesOptions(paths, material, {
        bmcPort,
        bmcAnswerMs: peers.bmc.answerMs,
        tinkUrl,
        deviceUrl,
        swtpm: found.swtpm,
        attestTries: options.attestTries ?? ATTEST_TRIES,
      }),
      options.onMachineLine === undefined ? {} : { onLine: options.onMachineLine },
    );
    const env = {
      ...fleetdEnv(paths, {
        netboxUrl,
        netboxRole: ROLE,
        devicePort,
        adminPort,
        metricsPort,
        bmcPort,
        bmcPrefix: peers.bmc.prefix,
        redisUrl,
      }),
      ...options.env,
    };
    const serve = options.serve ?? [node, entry("functions/serve.ts")];
    const startFleetd = () =>
      start("fleetd", serve, {
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
        ...(options.onFleetdLine === undefined ? {} : { onLine: options.onFleetdLine }),
      });
    let fleetd = await startFleetd();
    const crashFleetd = async (pauseMs: number) => {
      await fleetd.kill();
      processes.splice(processes.indexOf(fleetd), 1);
      await sleep(pauseMs);
      fleetd = await startFleetd();
    };
    // fleetd's memory begins with its first pass; what is asked before counts as older than it and is held.
    await callAdmin(paths, `${admin}/reconcile`, material.adminToken, "POST", "{}");
    if (options.passEveryMs > 0) stops.push(startTimer(paths, admin, material.adminToken, options.passEveryMs));
    const urls = {
      device: deviceUrl,
      admin,
      metrics: `http://127.0.0.1:${metricsPort}`,
      netbox: netboxUrl,
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
      clusterAddress: { url: cluster.url, caPem: cluster.caPem },
      processes,
      peers,
      env,
      crashFleetd,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
