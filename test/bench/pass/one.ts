import diagnostics from "node:diagnostics_channel";
import { createRecords } from "../../../shared/adapters/kubernetes/records.ts";
import { createBootPlane } from "../../../shared/adapters/kubernetes/tinkerbell-boot-plane.ts";
import { createWorkloadCluster } from "../../../shared/adapters/kubernetes/workload-cluster.ts";
import { createMemoryStore } from "../../../shared/adapters/memory/store.ts";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import { createFiles } from "../../../shared/adapters/spire/files.ts";
import { systemClock } from "../../../shared/adapters/system/clock.ts";
import { systemEntropy } from "../../../shared/adapters/system/entropy.ts";
import { type PassReport, pass, passForDevice } from "../../../shared/engine/pass.ts";
import type { World } from "../../../shared/engine/world.ts";
import { PortError } from "../../../shared/ports/error.ts";
import { CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";
import { counted } from "../../shared/engine/counted.ts";

/** One pass in a process of its own, as the timer makes it, over the production adapters; prints what it cost. */
interface Order {
  readonly netbox: string;
  readonly fleetd: string;
  readonly tinkerbell: string;
  readonly cluster: string;
  readonly kubeconfigs: { readonly tinkerbell: string; readonly cluster: string };
  readonly spireNodes: string;
  /** "whole", "between", or the id of the only device. */
  readonly look: "whole" | "between" | number;
  readonly shard: { readonly from: number; readonly to: number } | null;
}
const order: Order = JSON.parse(process.argv[2] ?? "");
const timeoutMs = 120_000;
const never = () => Promise.reject(new PortError("rejected", "signer", "not in this bench"));
const tinkerbell = { kubeconfigFile: order.kubeconfigs.tinkerbell, namespace: "tinkerbell", timeoutMs };
const durations = { ...SETTINGS.durations, ...(order.look === "whole" ? { fullWalkMs: 0 } : {}) };
const { world, made } = counted({
  netbox: createNetBox({ url: order.netbox, token: order.fleetd, role: "fleet-node", timeoutMs }),
  bootPlane: createBootPlane(tinkerbell),
  records: createRecords(tinkerbell),
  cluster: createWorkloadCluster({ kubeconfigFile: order.kubeconfigs.cluster, timeoutMs }),
  store: createMemoryStore(systemClock),
  signer: { chain: never, trusted: never, algorithm: never, sign: never },
  files: createFiles({ spireNodesFile: order.spireNodes, evidenceFolder: null }),
  policy: {
    current: async () => ({ classes: CLASSES, classInputs: null, ekPins: null, profiles: {}, talosSecrets: null }),
  },
  clock: systemClock,
  entropy: systemEntropy,
  settings: { ...SETTINGS, durations, shard: order.shard },
  event: ({ kind, code, text }) => {
    if (kind === "step-failed" || kind === "peer-down") process.stderr.write(`${kind} ${code}: ${text}\n`);
  },
} satisfies World);

const requests: Record<string, number> = {};
diagnostics.subscribe("undici:request:create", (message) => {
  const { request } = message as { request: { origin?: unknown } };
  const peer = (["netbox", "tinkerbell", "cluster"] as const).find((name) => order[name] === String(request.origin));
  const name = peer ?? "other";
  requests[name] = (requests[name] ?? 0) + 1;
});

// The Kubernetes package alone takes most of a start; it is loaded at the first call, and counted as start here.
await import("@kubernetes/client-node");
const cpu = process.cpuUsage();
const startedMs = performance.now();
const look = order.look;
async function tend(deviceId: number): Promise<Pick<PassReport, "devices" | "steps">> {
  const settled = await passForDevice(world, deviceId, "pass");
  return { devices: 1, steps: settled === null || settled === "locked" ? 0 : settled.steps };
}
const report = typeof look === "number" ? await tend(look) : await pass(world);
const wallMs = performance.now() - startedMs;
const { user, system } = process.cpuUsage(cpu);
const storeCalls = Object.entries(made).reduce((sum, [name, n]) => sum + (name.startsWith("store.") ? n : 0), 0);
process.stdout.write(
  `${JSON.stringify({
    startMs: (cpu.user + cpu.system) / 1000,
    cpuMs: (user + system) / 1000,
    wallMs,
    maxRssMib: process.resourceUsage().maxRSS / 1024,
    looked: report.devices,
    steps: report.steps,
    requests,
    storeCalls,
  })}\n`,
);
process.exit(0);
