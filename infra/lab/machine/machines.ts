import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BmcFaults, type LabBmcs, startLabBmcs } from "../tink/bmc.ts";
import { SoftTpm } from "../tpm/soft-tpm.ts";
import { missingTools, SwTpm } from "../tpm/swtpm.ts";
import { measureBoot } from "./firmware.ts";
import { LabMachine, type LabMachineSpec, type MachineTpm } from "./machine.ts";
import { bootOf, type FirmwareKind, folderOf, type Site } from "./site.ts";

export interface LabMachinesOptions extends Site {
  /** swtpm where its tools are installed, unless one is named. */
  readonly tpm?: "swtpm" | "software";
  /** Of the BMC responders; 0 or absent: the kernel chooses. */
  readonly bmcPort?: number;
  readonly bmcAnswerMs?: number;
  /** Of the control door. */
  readonly port?: number;
  readonly machines?: readonly LabMachineSpec[];
}

/** All machines of a lab with their BMCs. */
export class LabMachines {
  readonly site: Site;
  readonly tpmKind: "swtpm" | "software";
  readonly bmcs: LabBmcs;
  readonly #machines = new Map<string, LabMachine>();
  readonly #faults = new Map<string, BmcFaults>();
  #adding: Promise<unknown> = Promise.resolve();

  private constructor(site: Site, tpmKind: "swtpm" | "software", bmcs: LabBmcs) {
    this.site = site;
    this.tpmKind = tpmKind;
    this.bmcs = bmcs;
  }

  static async start(options: LabMachinesOptions): Promise<LabMachines> {
    const { tpm, bmcPort = 0, bmcAnswerMs = 0, machines = [], port: _port, ...site } = options;
    mkdirSync(site.directory, { recursive: true });
    const bmcs = await startLabBmcs({ port: bmcPort, answerMs: bmcAnswerMs });
    const kind = tpm ?? (missingTools().length === 0 ? "swtpm" : "software");
    const started = new LabMachines(site, kind, bmcs);
    for (const spec of machines) await started.add(spec);
    return started;
  }

  /**
   * Adds a machine, powered off; its TPM, disks and state are those of its folder.
   * @throws Error where the name is taken
   */
  add(spec: LabMachineSpec): Promise<LabMachine> {
    // One after the other: the EK CA's serial file is shared.
    const added = this.#adding.then(async () => {
      if (this.#machines.has(spec.name)) throw new Error(`there is a machine ${spec.name}`);
      const machine = new LabMachine(this.site, spec, await this.#openTpm(spec.name));
      this.#machines.set(spec.name, machine);
      if (spec.bmcHost?.startsWith("127.")) await this.bmcs.openAddress(spec.bmcHost);
      if (spec.bmcHost !== undefined) this.#faults.set(spec.name, this.bmcs.add(spec.bmcHost, machine));
      return machine;
    });
    this.#adding = added.catch(() => undefined);
    return added;
  }

  all(): LabMachine[] {
    return [...this.#machines.values()];
  }

  get(name: string): LabMachine | undefined {
    return this.#machines.get(name);
  }

  /** How a machine's BMC misbehaves, to be changed in place. */
  faults(name: string): BmcFaults | undefined {
    return this.#faults.get(name);
  }

  /**
   * Exchanges the TPMs of two machines.
   * @throws Error while one of them is on
   */
  async swapTpms(one: LabMachine, other: LabMachine): Promise<void> {
    if (one.isOn() || other.isOn()) throw new Error("both machines must be off");
    await Promise.all([one.stopped(), other.stopped()]);
    [one.tpm, other.tpm] = [other.tpm, one.tpm];
  }

  /** What HookOS's boot leaves in the log, by the firmware's kind. */
  hookosLog(kind: FirmwareKind): { readonly eventLog: Uint8Array; readonly commandLine: string } {
    const commandLine = this.site.hookosCommandLine;
    return { eventLog: measureBoot(bootOf(this.site, kind, commandLine)).eventLog, commandLine };
  }

  /** Turns everything off; no process is left. */
  async close(): Promise<void> {
    await this.#adding;
    await this.bmcs.close();
    await Promise.all(
      this.all().map(async (machine) => {
        await machine.stopped();
        if (machine.tpm.kind === "swtpm") await machine.tpm.close();
      }),
    );
  }

  async #openTpm(name: string): Promise<MachineTpm> {
    const folder = join(folderOf(this.site, name), "tpm");
    if (this.tpmKind === "software") return new SoftTpm(folder);
    const tpm = await SwTpm.open(folder, join(this.site.directory, "ek-ca"));
    // Read while nothing else speaks to it, and kept.
    await tpm.ekDigests();
    return tpm;
  }
}

/** Reads the options of a process. */
export function readOptions(file: string): LabMachinesOptions {
  return JSON.parse(readFileSync(file, "utf8")) as LabMachinesOptions;
}
