import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { describe } from "vitest";
import { attestApp } from "../../../functions/attest/app.ts";
import { keySigner } from "../../../shared/adapters/ca/key-file.ts";
import { createRecords } from "../../../shared/adapters/kubernetes/records.ts";
import { createMemoryStore } from "../../../shared/adapters/memory/store.ts";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import { systemClock } from "../../../shared/adapters/system/clock.ts";
import { systemEntropy } from "../../../shared/adapters/system/entropy.ts";
import { systemSleep } from "../../../shared/adapters/system/sleep.ts";
import type { World } from "../../../shared/engine/world.ts";
import { LISTENER_LIMITS } from "../../../shared/runtime/limits.ts";
import { FakeBootPlane } from "../../fakes/boot-plane.ts";
import { FakeWorkloadCluster } from "../../fakes/workload-cluster.ts";
import { SETTINGS } from "../../scenarios/fixtures.ts";
import { attestBlackBox } from "./black-box.ts";
import type { Host } from "./box.ts";
import { type Peers, SESSION_MS } from "./peers.ts";

/** The production adapters over the peers; begin and evidence ask neither boot plane nor workload cluster. */
function worldOver(peers: Peers): World {
  const timeoutMs = 10_000;
  const { netbox, kubernetes, issuer } = peers;
  return {
    netbox: createNetBox({ url: netbox.url, token: netbox.token, role: "fleet-node", timeoutMs }),
    records: createRecords({ kubeconfigFile: kubernetes.file, namespace: "tinkerbell", timeoutMs }),
    bootPlane: new FakeBootPlane(systemClock),
    cluster: new FakeWorkloadCluster(),
    store: createMemoryStore(systemClock),
    signer: keySigner({ keyFile: "key", chainFile: "chain" }, { key: issuer.keyPem, chain: issuer.chainPem }),
    files: {
      writeSpireNodes: async () => undefined,
      readSpireNodes: async () => null,
      writeEvidence: async () => undefined,
    },
    policy: { current: async () => peers.policy },
    clock: systemClock,
    entropy: systemEntropy,
    settings: { ...SETTINGS, durations: { ...SETTINGS.durations, inventoryCopyMs: 1, sessionMs: SESSION_MS } },
    event: () => undefined,
  };
}

async function startNode(peers: Peers): Promise<Host> {
  const app = attestApp({
    world: worldOver(peers),
    metrics: { answer: () => undefined },
    sleep: systemSleep,
    log: { info: () => undefined, error: () => undefined },
    sessionKeys: [systemEntropy.bytes(32)],
    limits: {
      beginPerMinute: 6000,
      ...LISTENER_LIMITS,
    },
    trustedProxies: [],
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

describe("attest on Node", () => attestBlackBox(startNode));
