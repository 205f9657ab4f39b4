import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKeyFileSigner } from "../../shared/adapters/ca/key-file.ts";
import { createMemoryStore } from "../../shared/adapters/memory/store.ts";
import { systemClock } from "../../shared/adapters/system/clock.ts";
import { systemEntropy } from "../../shared/adapters/system/entropy.ts";
import { systemSleep } from "../../shared/adapters/system/sleep.ts";
import type { EngineEvent, World } from "../../shared/engine/world.ts";
import type { FleetSettings } from "../../shared/fleet/limits.ts";
import type { PolicyTexts } from "../../shared/ports/policy.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { LISTENER_LIMITS } from "../../shared/runtime/limits.ts";
import type { FakeAuthority } from "./authority.ts";
import { FakeBootPlane } from "./boot-plane.ts";
import { FakeNetBox } from "./netbox.ts";
import { FakeRecords } from "./records.ts";
import { FakeWorkloadCluster } from "./workload-cluster.ts";

/** All ports without a system behind them, each to be changed in place by a test. */
export interface FakeWorld extends World {
  readonly netbox: FakeNetBox;
  readonly bootPlane: FakeBootPlane;
  readonly cluster: FakeWorkloadCluster;
  readonly records: FakeRecords;
  /** What git holds; a test may put another set in its place. */
  policyTexts: PolicyTexts;
  readonly events: EngineEvent[];
  /** Evidence bundles, oldest first. */
  readonly evidence: { readonly device: string; readonly json: string }[];
  /** The last SPIRE list, or "". */
  spireNodes: string;
}

export interface FakeWorldOptions {
  /** Where the issuer's key and chain are put. */
  readonly directory: string;
  readonly issuer: FakeAuthority;
  readonly policy: PolicyTexts;
  readonly settings: FleetSettings;
}

/** Builds the world; its clock is the machine's. */
export async function fakeWorld(options: FakeWorldOptions): Promise<FakeWorld> {
  const { directory, issuer, settings } = options;
  const keyFile = join(directory, "issuer.key");
  const chainFile = join(directory, "issuer.pem");
  writeFileSync(keyFile, issuer.keyPem, { mode: 0o600 });
  writeFileSync(chainFile, issuer.pem);
  const events: EngineEvent[] = [];
  const evidence: { device: string; json: string }[] = [];
  const world: FakeWorld = {
    netbox: new FakeNetBox(systemClock, settings.netboxUser),
    bootPlane: new FakeBootPlane(systemClock),
    cluster: new FakeWorkloadCluster(),
    records: new FakeRecords(),
    store: createMemoryStore(systemClock),
    signer: await createKeyFileSigner({ keyFile, chainFile }),
    files: {
      writeSpireNodes: async (json) => {
        world.spireNodes = json;
      },
      readSpireNodes: async () => (world.spireNodes === "" ? null : world.spireNodes),
      writeEvidence: async (device, _atMs, json) => {
        evidence.push({ device, json });
      },
    },
    policy: { current: async () => world.policyTexts },
    clock: systemClock,
    entropy: systemEntropy,
    settings,
    event: (event) => {
      events.push(event);
    },
    policyTexts: options.policy,
    events,
    evidence,
    spireNodes: "",
  };
  return world;
}

/** What a handler is given around a world; log lines and answers are kept. */
export interface FakeDeps extends Deps {
  readonly world: FakeWorld;
  readonly lines: string[];
  readonly answers: string[];
}

export function fakeDeps(world: FakeWorld): FakeDeps {
  const lines: string[] = [];
  const answers: string[] = [];
  const keep = (fields: object, text: string) => {
    lines.push(`${text} ${JSON.stringify(fields)}`);
  };
  return {
    world,
    metrics: {
      answer: (route, code) => {
        answers.push(`${route} ${code}`);
      },
    },
    sleep: systemSleep,
    log: { info: keep, error: keep },
    sessionKeys: [systemEntropy.bytes(32)],
    limits: {
      beginPerMinute: 1000,
      ...LISTENER_LIMITS,
    },
    trustedProxies: [],
    lines,
    answers,
  };
}
