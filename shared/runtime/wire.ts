import { probeSigner } from "../adapters/ca/checked.ts";
import { aboutIssuer } from "../adapters/ca/issuer.ts";
import { createSigner } from "../adapters/ca/signer.ts";
import { createRecords } from "../adapters/kubernetes/records.ts";
import { createBootPlane } from "../adapters/kubernetes/tinkerbell-boot-plane.ts";
import { createWorkloadCluster } from "../adapters/kubernetes/workload-cluster.ts";
import { createMemoryStore } from "../adapters/memory/store.ts";
import { createNetBox } from "../adapters/netbox/netbox.ts";
import { createPolicy, type PolicyCheck } from "../adapters/policy/policy-files.ts";
import { connectRedis } from "../adapters/redis/store.ts";
import { createFiles } from "../adapters/spire/files.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { systemEntropy } from "../adapters/system/entropy.ts";
import { systemSleep } from "../adapters/system/sleep.ts";
import type { World } from "../engine/world.ts";
import type { FleetSettings } from "../fleet/limits.ts";
import type { PolicyPort } from "../ports/policy.ts";
import type { SignerPort } from "../ports/signer.ts";
import type { StorePort } from "../ports/store.ts";
import type { Settings } from "./config.ts";
import type { AdminDeps } from "./deps.ts";
import { LISTENER_LIMITS } from "./limits.ts";
import { createLog } from "./log.ts";
import { Metrics } from "./metrics.ts";

function fleetSettings(s: Settings): FleetSettings {
  return {
    durations: s.durations,
    controlPlanes: s.FLEET_CONTROL_PLANES,
    maxDiskRuns: s.FLEET_MAX_DISK_RUNS,
    shard: s.FLEET_SHARD ?? null,
    trustDomain: s.FLEET_TRUST_DOMAIN,
    bmcNetworks: s.FLEET_BMC_NETWORKS,
    rpcPort: s.FLEET_BMC_RPC_PORT,
    namespace: s.FLEET_TINKERBELL_NAMESPACE,
    netboxUser: s.FLEET_NETBOX_USER,
    toolsImage: s.FLEET_TOOLS_IMAGE,
    deviceUrl: s.FLEET_DEVICE_URL.replace(/\/$/, ""),
    switchPort: s.FLEET_SWITCH_PORT,
    unverifiedBoot: s.FLEET_UNVERIFIED_BOOT,
  };
}

/** The store, or a refusal: configurations are cluster secrets and must not reach a disk, not even sealed for long. */
async function openStore(s: Settings, say: (text: string) => void): Promise<StorePort> {
  if (s.FLEET_REDIS_URL === undefined) {
    say("no FLEET_REDIS_URL: the store is this process's memory, for one process only");
    return createMemoryStore(systemClock);
  }
  const store = await connectRedis({ url: s.FLEET_REDIS_URL });
  const persistence = await store.redisPersistence();
  if (persistence !== "off") {
    if (s.FLEET_REDIS_PERSISTENCE === "refuse")
      throw new Error(
        `Redis persistence is ${persistence}: set save "" and appendonly no, or FLEET_REDIS_PERSISTENCE=accept`,
      );
    say(`Redis persistence is ${persistence}, accepted by FLEET_REDIS_PERSISTENCE`);
  }
  return store;
}

/** The issuer as the settings name it. @throws PortError */
export function openSigner(s: Settings): Promise<SignerPort> {
  const common = {
    chainFile: s.FLEET_CA_CHAIN_FILE,
    bundleFile: s.FLEET_CA_BUNDLE_FILE,
    timeoutMs: s.FLEET_CA_TIMEOUT_MS,
    queue: { concurrency: s.FLEET_CA_CONCURRENCY, maxWaiting: s.FLEET_CA_QUEUE, waitMs: s.FLEET_CA_WAIT_MS },
  };
  return createSigner({ ...s.signer, ...common });
}

/** Where the issuer's key is, for a person who looks for it. */
function whereKeyIs(signer: Settings["signer"]): string {
  if (signer.kind === "key-file") return `key file ${signer.keyFile}`;
  if (signer.kind === "command") return `command ${signer.command[0]}`;
  return `token ${signer.token}, key ${[signer.keyLabel, signer.keyId].filter((one) => one !== undefined).join(" ")}`;
}

/**
 * Says which issuer signs, and signs once at the start of the listeners: a wrong PIN, another key or a program that is
 * not there is told then and not by the first machine.
 * @throws Error where a person must act; a key that does not answer is told only, for all but certificates works without
 */
export async function checkSigner(s: Settings, { deps }: Wired): Promise<void> {
  const { signer } = deps.world;
  const where = whereKeyIs(s.signer);
  const [certificate = new Uint8Array(0)] = await signer.chain();
  const about = { ...aboutIssuer(certificate), algorithm: await signer.algorithm(), key: where };
  deps.log.info(about, "certificates are issued by");
  try {
    const fault = await probeSigner(signer);
    if (fault !== null)
      deps.log.error({ key: where }, `no certificates can be issued until the signer answers: ${fault}`);
  } catch (error) {
    throw new Error(`the issuer of ${s.FLEET_CA_CHAIN_FILE} (${where}): ${(error as Error).message}`);
  }
}

export interface Wired {
  readonly deps: AdminDeps;
  readonly metrics: Metrics;
  readonly warn: (text: string) => void;
}

/** The files that git owns, as the settings name them. */
export function openPolicy(s: Settings, check: PolicyCheck): PolicyPort {
  return createPolicy(
    {
      classes: s.FLEET_CLASSES,
      classInputs: s.FLEET_CLASS_INPUTS ?? null,
      ekPins: s.FLEET_EK_PINS ?? null,
      ekRoots: s.FLEET_EK_ROOTS ?? null,
      profiles: s.FLEET_PROFILES,
      talosSecrets: s.FLEET_TALOS_SECRETS_FILE ?? null,
    },
    check,
  );
}

/** Builds everything from settings: the one place that knows adapters. @throws Error where a start must be refused */
export async function wire(s: Settings, checkPolicy: PolicyCheck): Promise<Wired> {
  const log = createLog(s.FLEET_LOG_LEVEL);
  const metrics = new Metrics();
  const timeoutMs = s.FLEET_CALL_TIMEOUT_MS;
  const tinkerbell = {
    kubeconfigFile: s.FLEET_TINKERBELL_KUBECONFIG,
    namespace: s.FLEET_TINKERBELL_NAMESPACE,
    timeoutMs,
  };
  const world: World = {
    netbox: createNetBox({
      url: s.FLEET_NETBOX_URL,
      token: s.FLEET_NETBOX_TOKEN_FILE,
      role: s.FLEET_NETBOX_ROLE,
      timeoutMs,
    }),
    bootPlane: createBootPlane(tinkerbell),
    records: createRecords(tinkerbell),
    cluster: createWorkloadCluster({ kubeconfigFile: s.FLEET_CLUSTER_KUBECONFIG, timeoutMs }),
    store: await openStore(s, (text) => log.warn(text)),
    signer: await openSigner(s),
    files: createFiles({ spireNodesFile: s.FLEET_SPIRE_NODES_FILE, evidenceFolder: s.FLEET_EVIDENCE_DIR ?? null }),
    policy: openPolicy(s, checkPolicy),
    clock: systemClock,
    entropy: systemEntropy,
    settings: fleetSettings(s),
    event: (event) => {
      metrics.event(event, Date.now());
      const { kind, device, code, text } = event;
      // Told by whoever could not keep it.
      if (kind === "evidence-lost") return;
      log[kind === "step-failed" || kind === "peer-down" ? "warn" : "info"]({ event: kind, device, code }, text);
    },
  };
  await world.policy.current();
  await world.netbox.checkVersion();
  return {
    metrics,
    warn: (text) => log.warn(text),
    deps: {
      world,
      metrics,
      sleep: systemSleep,
      log,
      sessionKeys: s.sessionKeys,
      limits: {
        beginPerMinute: s.FLEET_RATE_BEGIN,
        ...LISTENER_LIMITS,
      },
      trustedProxies: s.FLEET_TRUSTED_PROXIES,
      adminToken: s.FLEET_ADMIN_TOKEN_FILE ?? null,
      webhookSecret: s.FLEET_WEBHOOK_SECRET_FILE,
    },
  };
}
