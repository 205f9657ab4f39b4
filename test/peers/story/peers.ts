import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secretPaths } from "../../../infra/fleetctl/netbox/setup.ts";
import { clientOf } from "../../../infra/lab/kubernetes/client.ts";
import { REAL_ANSWER_MS } from "../../../infra/lab/tink/bmc.ts";
import { NAMESPACE, type Peers, type PeersInput, ROLE } from "../../../infra/lab/world/peers.ts";
import { run as fleetctl } from "../../infra/fleetctl/cli.ts";
import { applyDefinitions, applyManifests, applyNamespace } from "../kubernetes/apply.ts";
import { CLUSTER_CONTROLLERS, startKubernetes, TINKERBELL_CONTROLLERS } from "../kubernetes/start.ts";
import { prepareNetBox } from "../netbox/prepare.ts";
import { startNetBox } from "../netbox/start.ts";
import { startRedis } from "../redis/start.ts";
import { startTinkerbell } from "../tinkerbell/start.ts";

/**
 * The story's peers, all real: NetBox set up by `fleetctl netbox setup` and its queue's Redis beside the store's, two
 * Kubernetes clusters where fleetd has the rights of infra/kubernetes, Tinkerbell.
 */
export function realPeers(): Peers {
  const stops: (() => Promise<void>)[] = [];
  return {
    // BMCs at loopback addresses of their own, which Rufio's RPC provider reaches.
    bmc: { type: "rpc", prefix: "127.78", answerMs: REAL_ANSWER_MS },
    obeys: false,
    async start(input) {
      const { paths } = input;
      const apis = [startApi(input, "tinkerbell", stops), startApi(input, "cluster", stops)];
      const starting = startOwnersNetBox(input, stops);
      // Where one fails the others are waited for: they must be known to be stopped.
      await Promise.allSettled([starting, ...apis]);
      const netbox = await starting;
      await Promise.all(apis);
      const redis = input.found.redis;
      if (redis === null) throw new Error("redis-server is missing: apt install redis-server");
      const store = await startRedis(redis, paths.at("logs"), "store");
      stops.push(() => store.stop());
      return { ...netbox, redisUrl: store.url };
    },
    async startTink({ paths }) {
      const tinkerbell = await startTinkerbell(paths.at("logs"), {
        kubeconfigFile: paths.adminKubeconfig.tinkerbell,
        namespace: NAMESPACE,
        powerCheckInterval: "2s",
      });
      stops.push(tinkerbell.stop);
      return tinkerbell.url;
    },
    async stop() {
      for (const stop of stops.reverse()) await stop();
    },
  };
}

async function startApi(
  { paths }: PeersInput,
  kinds: "tinkerbell" | "cluster",
  stops: (() => Promise<void>)[],
): Promise<void> {
  const controllers = kinds === "cluster" ? CLUSTER_CONTROLLERS : TINKERBELL_CONTROLLERS;
  const api = await startKubernetes(paths.at(`kubernetes-${kinds}`), { controllers });
  stops.push(api.stop);
  copyFileSync(api.adminKubeconfig, paths.adminKubeconfig[kinds]);
  api.writeKubeconfig(paths.kubeconfig[kinds], "fleetd", [], NAMESPACE);
  const { client } = clientOf(api.adminKubeconfig);
  await applyNamespace(client, NAMESPACE);
  await applyManifests(client, `infra/kubernetes/${kinds === "cluster" ? "workload" : "tinkerbell"}-rbac.yaml`);
  if (kinds === "tinkerbell") await applyDefinitions(client);
  client.close();
}

async function startOwnersNetBox(
  { paths, adminUrl }: PeersInput,
  stops: (() => Promise<void>)[],
): Promise<{ readonly netboxUrl: string; readonly ownerToken: string }> {
  // Beside the lab's folder, which is closed: PostgreSQL is another account where we are root.
  const folder = mkdtempSync(join(tmpdir(), "fleetd-story-netbox-"));
  stops.push(async () => rmSync(folder, { recursive: true, force: true }));
  const netbox = await startNetBox(folder);
  stops.push(netbox.stop);
  const tokenFile = join(folder, "admin-token");
  writeFileSync(tokenFile, netbox.adminToken, { mode: 0o600 });
  const secrets = join(folder, "secrets");
  const hook = ["--webhook-url", `${adminUrl}/webhooks/netbox`, "--webhook-ca", paths.tls.ca];
  const env = { FLEETCTL_NETBOX_URL: netbox.url, FLEETCTL_NETBOX_TOKEN_FILE: tokenFile };
  const { code, out, err } = await fleetctl(["netbox", "setup", ...hook, "--secrets", secrets, "--apply"], env);
  if (code !== 0) throw new Error(`fleetctl netbox setup: ended with ${code}\n${out}\n${err}`);
  copyFileSync(secretPaths(secrets).token, paths.secrets.fleetd);
  copyFileSync(secretPaths(secrets).webhook, paths.secrets.webhook);
  await prepareNetBox(netbox.url, netbox.adminToken, ROLE);
  return { netboxUrl: netbox.url, ownerToken: netbox.adminToken };
}
