import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { type KubernetesObject, objectOf } from "../../infra/lab/kubernetes/json.ts";
import { fileDisk, type LabDisk } from "../../infra/lab/machine/disk.ts";
import type { AgentMachine } from "../../infra/lab/tink/actions.ts";
import { type AgentLies, runAgent } from "../../infra/lab/tink/agent.ts";
import { type LabBmcs, type PowerHooks, startLabBmcs } from "../../infra/lab/tink/bmc.ts";
import { type Paths, pathsOf } from "../../infra/lab/tink/paths.ts";
import { startLabTink } from "../../infra/lab/tink/start.ts";
import { type KubernetesWorld, labWorld } from "./kubernetes-world.ts";

export const SERIAL = "S4XYNX0R123456";
export const INSTALLER = `registry.example/installer@sha256:${"00".repeat(32)}`;

/** A machine with a disk, an agent's directory and a power button. */
export class TestMachine implements AgentMachine, PowerHooks {
  readonly mac: string;
  readonly fleetDirectory: string;
  readonly disks: readonly LabDisk[];
  /** What happened to it, in order. */
  readonly events: string[] = [];
  #on: boolean;

  constructor(directory: string, name: string, mac: string, on: boolean) {
    this.mac = mac;
    this.#on = on;
    this.fleetDirectory = mkdtempSync(join(directory, `${name}-fleet-`));
    const disk = fileDisk(join(directory, `${name}.img`), "/dev/nvme0n1", SERIAL);
    disk.write(0, new Uint8Array(disk.sizeBytes).fill(0xaa));
    this.disks = [disk];
  }

  get disk(): LabDisk {
    const [disk] = this.disks;
    if (disk === undefined) throw new Error("no disk");
    return disk;
  }

  giveCode(code: string): void {
    writeFileSync(join(this.fleetDirectory, "install_code"), `${code}\n`);
  }

  /** How many bytes of the disk are not zero. */
  dirtyBytes(offset = 0, length = this.disk.sizeBytes): number {
    return this.disk.read(offset, length).filter((byte) => byte !== 0).length;
  }

  setNextBoot(os: string): void {
    this.events.push(`next-boot ${os}`);
  }
  reboot(): void {
    this.events.push("reboot");
  }
  isOn(): boolean {
    return this.#on;
  }
  powerOn(boot: "pxe" | "disk"): void {
    this.#on = true;
    this.events.push(`on ${boot}`);
  }
  powerOff(): void {
    this.#on = false;
    this.events.push("off");
  }
}

/** What a suite needs of a Tink server, a Tink controller and a Rufio. */
export interface TinkPeer {
  /** Where the lab's agents reach the Tink server. */
  readonly url: string;
  /** How long a Task waits for its power state: 10 minutes cannot be waited for here. */
  readonly taskTimeoutMs: number;
  close(): Promise<void>;
}

/** Tinkerbell's API, controller, Rufio, Tink server and BMCs, with the Templates of infra/tinkerbell. */
export interface TinkWorld {
  readonly kubernetes: KubernetesWorld;
  readonly paths: Paths;
  readonly bmcs: LabBmcs;
  readonly tink: TinkPeer;
  machine(name: string, mac: string, on?: boolean): TestMachine;
  /** Makes Hardware and Machine of a name, whose BMC is at the address. */
  declare(name: string, mac: string, bmcHost: string): Promise<void>;
  run(name: string, template: string, hardware: string, mac: string, spec?: Record<string, unknown>): Promise<void>;
  agent(machine: TestMachine, lies?: AgentLies): Promise<void>;
  workflow(name: string): Promise<KubernetesObject>;
  close(): Promise<void>;
}

/** The lab's. */
export function labTinkWorld(): Promise<TinkWorld> {
  return tinkWorld(
    () => labWorld("tinkerbell"),
    async ({ adminKubeconfigFile: kubeconfigFile }, bmcUrl) => {
      const taskTimeoutMs = 1_000;
      const tink = await startLabTink({ kubeconfigFile, bmcUrl, pollMs: 20, taskTimeoutMs, agentWaitMs: 500 });
      return { ...tink, taskTimeoutMs };
    },
  );
}

/** Puts a world together from an API and a Tinkerbell on it: our BMCs, our Templates, our agents. */
export async function tinkWorld(
  startApi: () => Promise<KubernetesWorld>,
  startTink: (api: KubernetesWorld, bmcUrl: string) => Promise<TinkPeer>,
  bmcAnswerMs = 0,
): Promise<TinkWorld> {
  const directory = mkdtempSync(join(tmpdir(), "fleetd-tink-"));
  const kubernetes = await startApi();
  const { admin, namespace } = kubernetes;
  const paths = pathsOf(namespace);
  const bmcs = await startLabBmcs({ answerMs: bmcAnswerMs });
  const tink = await startTink(kubernetes, bmcs.url);
  for (const name of ["provision", "attest", "wipe", "retire"]) {
    await admin.call("POST", paths.templates, parse(readFileSync(`infra/tinkerbell/templates/${name}.yaml`, "utf8")));
  }
  await admin.call("POST", paths.secrets, parse(readFileSync("infra/tinkerbell/secrets/bmc-amt.example.yaml", "utf8")));
  const stop = new AbortController();
  const agents: Promise<void>[] = [];
  return {
    kubernetes,
    paths,
    bmcs,
    tink,
    machine: (name, mac, on = false) => new TestMachine(directory, name, mac, on),
    async declare(name, mac, bmcHost) {
      const connection = {
        host: bmcHost,
        insecureTLS: true,
        authSecretRef: { name: "bmc-amt", namespace },
        providerOptions: { rpc: { consumerURL: bmcs.url } },
      };
      await admin.call("POST", paths.machines, {
        apiVersion: "bmc.tinkerbell.org/v1alpha1",
        kind: "Machine",
        metadata: { name },
        spec: { connection },
      });
      await admin.call("POST", paths.hardware, {
        apiVersion: "tinkerbell.org/v1alpha1",
        kind: "Hardware",
        metadata: { name },
        spec: {
          bmcRef: { apiGroup: "bmc.tinkerbell.org", kind: "Machine", name },
          interfaces: [{ dhcp: { mac, uefi: true }, netboot: { allowPXE: true, allowWorkflow: true } }],
        },
      });
    },
    async run(name, template, hardware, mac, spec = {}) {
      const hardwareMap = {
        device_1: mac,
        disk_device: "/dev/nvme0n1",
        disk_serial: SERIAL,
        installer: INSTALLER,
        image: "",
        image_digest: "",
        image_format: "",
        code_required: "true",
        install: "true",
        os: "talos",
        tools_image: `registry.example/tools@sha256:${"11".repeat(32)}`,
        seed_url: "https://enroll.example/seed",
        uuid: "4c4c4544-0000-0000-0000-000000000001",
        ...objectOf(spec.hardwareMap),
      };
      const { hardwareMap: _merged, ...rest } = spec;
      const kind = { apiVersion: "tinkerbell.org/v1alpha1", kind: "Workflow" };
      const body = {
        ...kind,
        metadata: { name },
        spec: { templateRef: template, hardwareRef: hardware, ...rest, hardwareMap },
      };
      await admin.call("POST", paths.workflows, body);
    },
    agent(machine, lies) {
      const { signal } = stop;
      const options = { serverUrl: tink.url, agentId: machine.mac, machine, signal, ...(lies && { lies }) };
      const running = runAgent(options);
      agents.push(running);
      return running;
    },
    async workflow(name) {
      const found = await admin.get(`${paths.workflows}/${name}`);
      if (found === null) throw new Error(`no Workflow ${name}`);
      return found;
    },
    async close() {
      stop.abort();
      await Promise.all(agents);
      await tink.close();
      await bmcs.close();
      await kubernetes.close();
      rmSync(directory, { recursive: true });
    },
  };
}
