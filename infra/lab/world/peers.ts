import type { Material } from "./material.ts";
import type { LabPaths } from "./paths.ts";
import { freePort } from "./ports.ts";
import type { LabProcess, ProcessOptions } from "./process.ts";
import type { Found } from "./tools.ts";

export const ROLE = "fleet-node";
export const NAMESPACE = "tinkerbell";

/** What a peer's start is told. */
export interface PeersInput {
  readonly paths: LabPaths;
  readonly material: Material;
  readonly found: Found;
  /** Base URL of fleetd's admin listener, where NetBox's webhook goes. */
  readonly adminUrl: string;
  start(name: string, command: readonly string[], more?: Partial<ProcessOptions>): Promise<LabProcess>;
  startEntry(name: string, path: string, options: unknown): Promise<LabProcess>;
}

/** What fleetd is told of BMCs. */
export interface BmcKind {
  /** `bmc_type` in NetBox, and the name of the Secret without `bmc-`. */
  readonly type: "redfish" | "rpc";
  /** The first two bytes of each BMC's address. */
  readonly prefix: string;
  /** How long each of its answers takes. */
  readonly answerMs: number;
}

export interface StartedPeers {
  readonly netboxUrl: string;
  readonly ownerToken: string;
  readonly redisUrl: string | null;
}

/** Those that fleetd and its machines talk to: the lab's own, or real ones. */
export interface Peers {
  readonly bmc: BmcKind;
  /** True where NetBox and the others take the lab's orders (`/lab/…`). */
  readonly obeys: boolean;
  /** NetBox, both Kubernetes APIs with the kubeconfigs in their paths, and the store. */
  start(input: PeersInput): Promise<StartedPeers>;
  /** Tink server, Tink controller and Rufio; returns where agents reach the first. */
  startTink(input: PeersInput, bmcUrl: string): Promise<string>;
  stop(): Promise<void>;
}

/** The lab's own peers, each as a process. */
export const labPeers: Peers = {
  bmc: { type: "redfish", prefix: "10.78", answerMs: 0 },
  obeys: true,
  async start(input) {
    const { material, paths, found, adminUrl } = input;
    const kube = (kinds: "tinkerbell" | "cluster") =>
      input.startEntry(kinds, "infra/lab/kubernetes/main.ts", {
        kinds,
        tokens: [
          { token: material.kubeTokens.fleetd, user: "fleetd", groups: [] },
          { token: material.kubeTokens.admin, user: "admin", groups: ["system:masters"] },
        ],
        kubeconfigs: [
          { file: paths.kubeconfig[kinds], token: material.kubeTokens.fleetd, namespace: NAMESPACE },
          { file: paths.adminKubeconfig[kinds], token: material.kubeTokens.admin, namespace: NAMESPACE },
        ],
      });
    const [netbox] = await Promise.all([
      input.startEntry("netbox", "infra/lab/netbox/main.ts", {
        role: ROLE,
        webhook: { url: `${adminUrl}/webhooks/netbox`, secret: material.webhookSecret, caFile: paths.tls.ca },
        tokens: [
          { token: material.ownerToken, user: "owner", write: true },
          { token: material.fleetdToken, user: "fleetd", write: true, scope: "fleetd" },
        ],
      }),
      kube("tinkerbell"),
      kube("cluster"),
    ]);
    const redisUrl = found.redis === null ? null : await startRedis(input, found.redis);
    return { netboxUrl: netbox.url, ownerToken: material.ownerToken, redisUrl };
  },
  async startTink(input, bmcUrl) {
    const tink = await input.startEntry("tink", "infra/lab/tink/main.ts", {
      kubeconfigFile: input.paths.adminKubeconfig.tinkerbell,
      bmcUrl,
      pollMs: 150,
      powerCheckIntervalMs: 1_000,
      taskTimeoutMs: 5_000,
      agentWaitMs: 1_000,
    });
    return tink.url;
  },
  async stop() {},
};

async function startRedis(input: PeersInput, program: string): Promise<string> {
  const port = await freePort();
  // redis-server has no ready line of ours: a shell says it once the port answers.
  const script = `"$0" --port "$1" --bind 127.0.0.1 --save "" --appendonly no --daemonize no --loglevel warning & pid=$!
trap 'kill $pid 2>/dev/null; wait $pid; exit 0' TERM INT
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  if (echo PING >"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then echo "ready redis://127.0.0.1:$1"; break; fi
  sleep 0.1
done
wait $pid`;
  await input.start("redis", ["bash", "-c", script, program, String(port)]);
  return `redis://127.0.0.1:${port}`;
}
