import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { parse } from "yaml";
import { readMachineConfig } from "../../infra/lab/kubelet/machine-config.ts";
import { fileDisk, readInstalled } from "../../infra/lab/machine/disk.ts";
import { readState } from "../../infra/lab/machine/state.ts";
import type { Lab } from "../../infra/lab/world/lab.ts";

const DISK_BYTES = 128 * 1024;

/** Everything that fleetd or its lab leaves lying about, by where it was seen. */
export type Seen = Map<string, string>;

function leaves(tree: unknown): string[] {
  if (typeof tree === "string") return [tree];
  return typeof tree === "object" && tree !== null ? Object.values(tree).flatMap(leaves) : [];
}

/** What was never to be seen: learned from the machines' own disks and from the files that hold secrets. */
export class Secrets {
  readonly values = new Map<string, string>();
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
    const { secrets, issuer } = lab.paths;
    for (const [name, file] of Object.entries(secrets)) {
      const text = readFileSync(file, "utf8").trim();
      if (name === "talos") for (const [i, leaf] of leaves(parse(text)).entries()) this.#add(`talos secret ${i}`, leaf);
      else this.#add(name, text);
    }
    for (const line of readFileSync(issuer.key, "utf8").split("\n"))
      if (!line.startsWith("-----")) this.#add("CA key", line);
    this.#add("Kubernetes token", lab.material.kubeTokens.fleetd);
  }

  #add(name: string, value: string): void {
    // The certificates of the bundle are no secrets; short words would be found anywhere.
    const isCertificate = Buffer.from(value, "base64").toString().includes("BEGIN CERTIFICATE");
    if (value.length >= 12 && !isCertificate) this.values.set(`${name} ${value.slice(0, 3)}…`, value);
  }

  /** Reads codes, tokens and configurations off the machines' disks, as they are there. */
  learn(names: readonly string[]): void {
    for (const name of names) {
      const disk = fileDisk(join(this.#lab.paths.at("machines"), name, "disk0.img"), "/dev/nvme0n1", "", DISK_BYTES);
      const installed = readInstalled(disk);
      if (installed === null) continue;
      if (installed.code !== null) this.#add("install code", installed.code);
      const state = readState(disk, installed);
      if (state === null) continue;
      const { bootstrapToken } = readMachineConfig(state.machineConfig);
      this.#add("bootstrap token", bootstrapToken);
      this.#add("bootstrap token's secret", bootstrapToken.split(".")[1] ?? "");
    }
  }
}

/** Command lines of all processes of the machine, as anybody may read them. */
export function commandLines(seen: Seen): void {
  for (const pid of readdirSync("/proc").filter((n) => /^\d+$/.test(n))) {
    try {
      const text = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      seen.set(`process arguments ${text.slice(0, 60)}`, text);
    } catch {
      // It ended meanwhile.
    }
  }
}

/** All keys and values of the lab's Redis, as a dump would have them. */
export async function redisDump(url: string | null, seen: Seen): Promise<number> {
  if (url === null) return 0;
  const redis = new Redis(url, { lazyConnect: true });
  await redis.connect();
  const keys = await redis.keys("*");
  for (const key of keys) seen.set(`Redis ${key}`, `${key} ${(await redis.dumpBuffer(key))?.toString("latin1") ?? ""}`);
  redis.disconnect();
  return keys.length;
}

/** Logs of every process but those that hold the secret as their own business, evidence, page, metrics, journal. */
export async function outputs(lab: Lab, seen: Seen, journal: unknown): Promise<void> {
  for (const file of readdirSync(lab.paths.at("logs")))
    seen.set(`log ${file}`, readFileSync(lab.paths.at(`logs/${file}`), "utf8"));
  for (const file of readdirSync(lab.paths.evidence, { recursive: true, withFileTypes: true }))
    if (file.isFile()) seen.set(`evidence ${file.name}`, readFileSync(join(file.parentPath, file.name), "utf8"));
  for (const path of ["/metrics", "/"])
    seen.set(`metrics listener ${path}`, await (await fetch(`${lab.urls.metrics}${path}`)).text());
  seen.set("journal", JSON.stringify(journal));
  seen.set("spire-nodes.json", readFileSync(lab.paths.spireNodes, "utf8"));
  const records = await lab.tinkerbell.list("/api/v1/namespaces/tinkerbell/configmaps");
  seen.set("records", JSON.stringify(records));
  const workflows = await lab.tinkerbell.list("/apis/tinkerbell.org/v1alpha1/namespaces/tinkerbell/workflows");
  seen.set("workflows", JSON.stringify(workflows));
}
