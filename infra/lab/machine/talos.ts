import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { bootKubelet, nodeClient } from "../kubelet/kubelet.ts";
import { readMachineConfig } from "../kubelet/machine-config.ts";
import type { Installed, LabDisk } from "./disk.ts";
import { get } from "./https.ts";
import type { Site } from "./site.ts";
import { type KeptState, readState, writeState } from "./state.ts";

/** What an installed system tells the lab as it runs; never a configuration or a code. */
export interface TalosEvents {
  /** HTTP status of a try to get the configuration; 0 where no answer came. */
  config(status: number): void;
  say(text: string): void;
  joined(nodeName: string): void;
}

export interface TalosRun {
  readonly site: Site;
  readonly uuid: string;
  readonly disk: LabDisk;
  readonly installed: Installed;
  /** An impostor asks for another node's name. */
  readonly nodeName?: string;
  readonly events: TalosEvents;
  readonly signal: AbortSignal;
}

const NODES = "/api/v1/nodes";

/** Runs the installed system until the machine loses power: configuration once, then the kubelet. */
export async function runTalos(run: TalosRun): Promise<void> {
  const { disk, installed, events, signal } = run;
  let state = readState(disk, installed);
  if (state === null) {
    const machineConfig = await acquireConfig(run);
    if (machineConfig === null) return;
    state = { machineConfig, keyPem: newKey(), certificatePem: null };
    writeState(disk, installed, state);
  }
  while (!signal.aborted) {
    try {
      const nodeName = await join(run, state);
      if (signal.aborted) return;
      events.joined(nodeName);
      break;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!signal.aborted) events.say(`kubelet: ${error.message}`);
      state = readState(disk, installed) ?? state;
    }
    await sleep(run.site.configGapMs ?? 100, undefined, { signal }).catch(() => undefined);
  }
  await untilAborted(signal);
}

/** One request for the configuration, as Talos makes it; the status, or 0. */
export async function fetchConfig(
  site: Site,
  uuid: string,
  code: string | null,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const query = new URLSearchParams({ uuid, code: code ?? "" });
  const ca = readFileSync(site.caFile, "utf8");
  try {
    return await get(`${site.deviceUrl}/talos/config?${query}`, ca, signal);
  } catch {
    return { status: 0, text: "" };
  }
}

/** Only a 200 that validates ends it; the gaps double. @see facts/talos.md */
async function acquireConfig({ site, uuid, installed, events, signal }: TalosRun): Promise<string | null> {
  const maxGapMs = site.configMaxGapMs ?? 2_000;
  for (let gapMs = site.configGapMs ?? 100; !signal.aborted; gapMs = Math.min(2 * gapMs, maxGapMs)) {
    const { status, text } = await fetchConfig(site, uuid, installed.code, signal);
    if (signal.aborted) return null;
    events.config(status);
    if (status === 200) {
      try {
        readMachineConfig(text);
        return text;
      } catch {
        events.say("the configuration does not validate");
      }
    }
    await sleep(gapMs, undefined, { signal }).catch(() => undefined);
  }
  return null;
}

async function join(run: TalosRun, state: KeptState): Promise<string> {
  const { machineConfig, keyPem, certificatePem } = state;
  const config = readMachineConfig(machineConfig);
  if (certificatePem === null) {
    const kubelet = await bootKubelet({
      machineConfig,
      keyPem,
      timeoutMs: run.site.csrTimeoutMs ?? 60_000,
      ...(run.nodeName !== undefined && { nodeName: run.nodeName }),
    });
    kubelet.client.close();
    writeState(run.disk, run.installed, { ...state, certificatePem: kubelet.certificatePem });
    return kubelet.nodeName;
  }
  // A kubelet with a certificate makes its Node again where somebody deleted it.
  const client = nodeClient(config, certificatePem, keyPem);
  try {
    const name = run.nodeName ?? config.nodeName;
    const node = { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} };
    if ((await client.get(`${NODES}/${name}`)) === null) await client.call("POST", NODES, node);
    return name;
  } finally {
    client.close();
  }
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
