import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eraseDisk, installTalos, type LabDisk, wipeDisk } from "../machine/disk.ts";

/** What an agent's machine gives to the actions. */
export interface AgentMachine {
  readonly disks: readonly LabDisk[];
  /** /worker/fleet of the running HookOS: install_code and attested lie there. */
  readonly fleetDirectory: string;
  /** Writes the firmware entry `fleet <os>` and makes it the next start's. */
  setNextBoot(os: string): void;
  reboot(): void;
  powerOff(): void;
}

/** What an action did: its last words, and what happens to the machine once that is reported. */
export interface ActionResult {
  readonly message: string;
  readonly after?: () => void;
}

const POLL_MS = 100;

/**
 * Runs one command of the action image on a lab machine.
 * @throws Error whose message is the action's last line
 */
export async function runCommand(
  command: readonly string[],
  timeoutSeconds: number,
  machine: AgentMachine,
  signal: AbortSignal,
): Promise<ActionResult> {
  const [name, device = "", serial = "", argument = ""] = command;
  switch (name) {
    case "disk-guard":
      return { message: `${guarded(machine, device, serial).device} is ${serial}` };
    case "wait-code":
      return waitForCode(machine, device, timeoutSeconds, signal);
    case "wipe":
      wipeDisk(guarded(machine, device, serial));
      return { message: "wiped" };
    case "erase":
      eraseDisk(guarded(machine, device, serial));
      return { message: "erased" };
    case "install-talos":
      installTalos(guarded(machine, device, serial), argument, codeOf(machine));
      return { message: "installed" };
    case "next-boot":
      guarded(machine, device, serial);
      machine.setNextBoot(argument);
      return { message: `next boot: fleet ${argument}` };
    case "reboot":
      return { message: "rebooting", after: () => machine.reboot() };
    case "poweroff":
      return { message: "powering off", after: () => machine.powerOff() };
  }
  throw new Error(`${name}: no such action`);
}

function guarded(machine: AgentMachine, device: string, serial: string): LabDisk {
  const disk = machine.disks.find((candidate) => candidate.device === device);
  if (disk === undefined) throw new Error(`there is no ${device}`);
  if (disk.serial !== serial) throw new Error(`${device} reports serial ${disk.serial}, not ${serial}`);
  if (machine.disks.filter((candidate) => candidate.serial === serial).length > 1) {
    throw new Error(`more than one disk reports serial ${serial}`);
  }
  return disk;
}

function codeOf(machine: AgentMachine): string | null {
  const file = join(machine.fleetDirectory, "install_code");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : null;
}

async function waitForCode(
  machine: AgentMachine,
  what: string,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<ActionResult> {
  const file = join(machine.fleetDirectory, what === "code" ? "install_code" : "attested");
  for (let waitedMs = 0; !existsSync(file); waitedMs += POLL_MS) {
    if (waitedMs >= timeoutSeconds * 1000) throw new Error(`no ${what} came in ${timeoutSeconds} s`);
    await sleep(POLL_MS, undefined, { signal });
  }
  return { message: `the ${what} is there` };
}
