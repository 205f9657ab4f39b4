import { attestApp } from "../functions/attest/app.ts";
import { keySigner } from "../shared/adapters/ca/key-file.ts";
import { recordsOver } from "../shared/adapters/kubernetes/records.ts";
import { createMemoryStore } from "../shared/adapters/memory/store.ts";
import { createNetBox } from "../shared/adapters/netbox/netbox.ts";
import { systemClock } from "../shared/adapters/system/clock.ts";
import { systemEntropy } from "../shared/adapters/system/entropy.ts";
import { systemSleep } from "../shared/adapters/system/sleep.ts";
import type { World } from "../shared/engine/world.ts";
import { DEFAULT_DURATIONS, type Durations } from "../shared/fleet/limits.ts";
import { PortError } from "../shared/ports/error.ts";
import type { PolicyTexts } from "../shared/ports/policy.ts";
import type { Deps } from "../shared/runtime/deps.ts";
import { LISTENER_LIMITS } from "../shared/runtime/limits.ts";
import { fetchClient, type ServiceBinding } from "./kubernetes.ts";

/** Bindings of the worker (workerd.capnp, wrangler.jsonc): all of them texts, but the Kubernetes API. */
interface Env {
  readonly KUBERNETES: ServiceBinding;
  readonly KUBERNETES_TOKEN: string;
  readonly NAMESPACE: string;
  readonly NETBOX_URL: string;
  readonly NETBOX_TOKEN: string;
  readonly NETBOX_ROLE: string;
  readonly NETBOX_USER: string;
  readonly SESSION_KEY: string;
  readonly TRUST_DOMAIN: string;
  readonly CA_KEY_PEM: string;
  readonly CA_CHAIN_PEM: string;
  /** PolicyTexts as JSON: classes and profiles, PEMs in place. */
  readonly POLICY: string;
  /** Durations other than the defaults, as JSON of milliseconds; absent: none. */
  readonly DURATIONS?: string | null;
}

/** Ports that begin and evidence never ask: their routes' way here is a later issue (ADR 0004). */
function absent<T extends object>(port: string): T {
  return new Proxy({} as T, {
    get: () => () => Promise.reject(new PortError("unavailable", port, "not reachable from workerd")),
  });
}

function worldOf(env: Env): World {
  const timeoutMs = 10_000;
  const policy = JSON.parse(env.POLICY) as PolicyTexts;
  return {
    netbox: createNetBox({ url: env.NETBOX_URL, token: env.NETBOX_TOKEN, role: env.NETBOX_ROLE, timeoutMs }),
    records: recordsOver(fetchClient("records", env.KUBERNETES, env.KUBERNETES_TOKEN, timeoutMs), env.NAMESPACE),
    bootPlane: absent("boot-plane"),
    cluster: absent("cluster"),
    store: createMemoryStore(systemClock),
    signer: keySigner(
      { keyFile: "CA_KEY_PEM", chainFile: "CA_CHAIN_PEM" },
      { key: env.CA_KEY_PEM, chain: env.CA_CHAIN_PEM },
    ),
    files: {
      writeSpireNodes: async () => undefined,
      readSpireNodes: async () => '{"nodes":[]}',
      writeEvidence: async () => undefined,
    },
    policy: { current: async () => policy },
    clock: systemClock,
    entropy: systemEntropy,
    settings: {
      durations: { ...DEFAULT_DURATIONS, ...(JSON.parse(env.DURATIONS ?? "{}") as Partial<Durations>) },
      controlPlanes: false,
      maxDiskRuns: 5,
      shard: null,
      trustDomain: env.TRUST_DOMAIN,
      bmcNetworks: [],
      rpcPort: 8090,
      namespace: env.NAMESPACE,
      netboxUser: env.NETBOX_USER,
      toolsImage: "",
      deviceUrl: "",
      switchPort: "require",
      unverifiedBoot: "refuse",
    },
    event: () => undefined,
  };
}

// One store for the worker's life: sessions are begun and ended in this process.
let app: ReturnType<typeof attestApp> | null = null;

function appOf(env: Env): ReturnType<typeof attestApp> {
  const say = (level: string) => (fields: object, text: string) =>
    console.log(JSON.stringify({ level, ...fields, msg: text }));
  const deps: Deps = {
    world: worldOf(env),
    metrics: { answer: () => undefined },
    sleep: systemSleep,
    log: { info: say("info"), error: say("error") },
    sessionKeys: [new TextEncoder().encode(env.SESSION_KEY)],
    limits: {
      beginPerMinute: 6000,
      ...LISTENER_LIMITS,
    },
    trustedProxies: [],
  };
  return attestApp(deps);
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    app ??= appOf(env);
    return app.fetch(request, env);
  },
};
