import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeLldpFrame } from "../../../shared/formats/lldp/frame.ts";
import type { AgentMachine } from "../tink/actions.ts";
import { runAgent } from "../tink/agent.ts";
import type { PowerHooks } from "../tink/bmc.ts";
import type { SoftTpm } from "../tpm/soft-tpm.ts";
import type { SwTpm } from "../tpm/swtpm.ts";
import { runAttestClient } from "./attest-client.ts";
import type { AttestExit } from "./attest-run.ts";
import { fileDisk, type LabDisk } from "./disk.ts";
import { measureBoot } from "./firmware.ts";
import { writeHookosRoot } from "./hookos-root.ts";
import { bootOf, type FirmwareKind, folderOf, type Site } from "./site.ts";
import { installedDisk } from "./state.ts";
import { fetchConfig, runTalos } from "./talos.ts";
import { runTinkAttest } from "./tink-attest.ts";

/** The switch port that a cable ends in. */
export interface SwitchPort {
  readonly chassisMac: string;
  readonly systemName: string;
  readonly port: string;
}

export interface LabDiskSpec {
  /** Such as /dev/nvme0n1. */
  readonly device: string;
  readonly serial: string;
}

/** What a machine says or does that is not so. */
export interface MachineLies {
  /** What its SMBIOS says. */
  readonly serial?: string;
  readonly uuid?: string;
  /** Actions that its agent doesn't do and reports as SUCCESS. */
  readonly skips?: readonly string[];
  /** The action that its agent reports as SUCCESS in place of the first that it gets. */
  readonly instead?: { readonly taskId: string; readonly actionId: string };
  /** The node that its kubelet wants to be. */
  readonly nodeName?: string;
}

export interface LabMachineSpec {
  readonly name: string;
  readonly serial: string;
  readonly uuid: string;
  readonly mac: string;
  readonly disks: readonly LabDiskSpec[];
  /** null: nothing sends LLDP there. */
  readonly switchPort: SwitchPort | null;
  readonly firmware?: FirmwareKind;
  readonly bootOrder?: readonly BootDevice[];
  /** Address by which its BMC is called; none where absent. */
  readonly bmcHost?: string;
}

export type BootDevice = "pxe" | "disk";
export type MachineTpm = SwTpm | SoftTpm;

interface Attestation {
  readonly lines: string[];
  exit: AttestExit | null;
}

const DISK_BYTES = 128 * 1024;
const KEPT = 200;

/** A machine of the lab: power, firmware, TPM, disks, and what it boots. */
export class LabMachine implements AgentMachine, PowerHooks {
  readonly spec: LabMachineSpec;
  readonly disks: readonly LabDisk[];
  readonly fleetDirectory: string;
  tpm: MachineTpm;
  firmware: FirmwareKind;
  switchPort: SwitchPort | null;
  lies: MachineLies = {};
  /** What happened to it, oldest first. */
  readonly events: string[] = [];
  readonly attestations: Attestation[] = [];
  /** HTTP status of each request for its configuration; 0 where no answer came. */
  readonly configStatuses: number[] = [];
  runs: "nothing" | "firmware" | "hookos" | "talos" = "nothing";
  node: string | null = null;
  readonly #site: Site;
  readonly #folder: string;
  #power: AbortController | null = null;
  #nextBoot: BootDevice | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(site: Site, spec: LabMachineSpec, tpm: MachineTpm) {
    this.#site = site;
    this.#folder = folderOf(site, spec.name);
    mkdirSync(this.#folder, { recursive: true });
    this.spec = spec;
    this.tpm = tpm;
    this.firmware = spec.firmware ?? "good";
    this.switchPort = spec.switchPort;
    this.fleetDirectory = join(this.#folder, "hookos/worker/fleet");
    this.disks = spec.disks.map(({ device, serial }, index) =>
      fileDisk(join(this.#folder, `disk${index}.img`), device, serial, DISK_BYTES),
    );
  }

  isOn(): boolean {
    return this.#power !== null;
  }

  /** Starts it; by its boot order where nothing is said. */
  powerOn(boot?: BootDevice): void {
    if (this.#power !== null) return;
    const power = new AbortController();
    this.#power = power;
    this.#note(`on${boot === undefined ? "" : ` ${boot}`}`);
    const before = this.#running;
    this.#running = before.then(() => this.#run(boot, power.signal));
  }

  powerOff(): void {
    if (this.#power === null) return;
    this.#power.abort();
    this.#power = null;
    this.#note("off");
  }

  reboot(): void {
    this.#note("reboot");
    this.powerOff();
    this.powerOn();
  }

  setNextBoot(os: string): void {
    this.#note(`next boot: fleet ${os}`);
    this.#nextBoot = "disk";
  }

  /** Waits until the power is off and all that ran on it has ended. */
  async stopped(): Promise<void> {
    this.powerOff();
    await this.#running;
  }

  /** Asks for the configuration once more with the code on its disk; the status, or null without an installation. */
  async fetchConfigAgain(): Promise<number | null> {
    const found = installedDisk(this.disks);
    if (found === null) return null;
    const signal = AbortSignal.timeout(30_000);
    const { status } = await fetchConfig(this.#site, this.#uuid(), found.installed.code, signal);
    this.configStatuses.push(status);
    return status;
  }

  async #run(first: BootDevice | undefined, signal: AbortSignal): Promise<void> {
    try {
      await this.#boot(first, signal);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#note(`halted: ${error.message}`);
      await new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    } finally {
      await this.tpm.powerOff();
      this.runs = "nothing";
      this.node = null;
    }
  }

  async #boot(first: BootDevice | undefined, signal: AbortSignal): Promise<void> {
    const order = [first, this.#nextBoot, ...(this.spec.bootOrder ?? ["disk", "pxe"])];
    this.#nextBoot = null;
    for (const device of order) {
      if (signal.aborted) return;
      this.runs = "firmware";
      if (device === "pxe") return this.#hookos(signal);
      const found = device === "disk" ? installedDisk(this.disks) : null;
      if (found === null) continue;
      const { site, events } = { site: this.#site, events: this.#talosEvents() };
      await this.#measure(site.osCommandLine);
      if (signal.aborted) return;
      this.runs = "talos";
      this.#note("talos");
      const { nodeName } = this.lies;
      const impostor = nodeName === undefined ? {} : { nodeName };
      return runTalos({ site, uuid: this.#uuid(), ...found, ...impostor, events, signal });
    }
  }

  async #hookos(signal: AbortSignal): Promise<void> {
    const { hookosCommandLine, tinkUrl } = this.#site;
    const eventLog = await this.#measure(hookosCommandLine);
    if (signal.aborted) return;
    this.runs = "hookos";
    this.#note("hookos");
    const root = join(this.#folder, "hookos");
    writeHookosRoot(root, {
      serial: this.lies.serial ?? this.spec.serial,
      uuid: this.#uuid(),
      mac: this.spec.mac,
      commandLine: hookosCommandLine,
      eventLog,
      lldpFrame: this.switchPort === null ? null : lldpFrame(this.switchPort),
    });
    await this.#attest(root, signal);
    if (signal.aborted) return;
    const { skips, instead } = this.lies;
    const lies = { ...(skips && { skips }), ...(instead && { instead: async () => instead }) };
    // Attested or not: a machine that cannot attest may still be wiped.
    await runAgent({ serverUrl: tinkUrl, agentId: this.spec.mac, machine: this, lies, signal });
  }

  async #attest(root: string, signal: AbortSignal): Promise<void> {
    const { deviceUrl: url, caFile, attestTries: tries = 5, attestGapSeconds: gapSeconds = 1 } = this.#site;
    const attestation: Attestation = { lines: [], exit: null };
    this.attestations.push(attestation);
    if (this.attestations.length > KEPT) this.attestations.shift();
    const say = (line: string) => void attestation.lines.push(line);
    const options = { root, url, caFile, tries, gapSeconds, signal, say };
    const { tpm } = this;
    attestation.exit = await (tpm.kind === "swtpm" ? runTinkAttest(tpm.tcti, options) : runAttestClient(tpm, options));
    if (!signal.aborted) this.#note(attestation.lines.at(-1) ?? "tink-attest: said nothing");
  }

  /** TPM reset, then the firmware's measurements; its log. */
  async #measure(commandLine: string): Promise<Uint8Array> {
    const measured = measureBoot(bootOf(this.#site, this.firmware, commandLine));
    await this.tpm.powerOn(measured.extends);
    return measured.eventLog;
  }

  #talosEvents() {
    return {
      config: (status: number) => {
        this.configStatuses.push(status);
        if (this.configStatuses.length > KEPT) this.configStatuses.shift();
        if (status === 200) this.#note("configuration served");
      },
      say: (text: string) => this.#note(text),
      joined: (name: string) => {
        this.node = name;
        this.#note(`node ${name}`);
      },
    };
  }

  #uuid(): string {
    return this.lies.uuid ?? this.spec.uuid;
  }

  #note(event: string): void {
    this.events.push(event);
    if (this.events.length > KEPT) this.events.shift();
  }
}

/** The frame that the switch sends out of a port. */
export function lldpFrame({ chassisMac, systemName, port }: SwitchPort): Uint8Array {
  return writeLldpFrame({
    sourceMac: chassisMac,
    chassisId: { subtype: 4, text: chassisMac },
    portId: { subtype: 5, text: port },
    ttlSeconds: 120,
    portDescription: null,
    systemName,
  });
}
