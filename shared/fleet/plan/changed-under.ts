import { freezeClass } from "../class.ts";
import { bootMac } from "../device.ts";
import { isUnfinished, type Run } from "../record.ts";
import { hasMovedUnder } from "../same-machine.ts";
import type { Draft } from "./draft.ts";

function underRun(d: Draft, run: Run): void {
  const { device } = d.o;
  const frozen = run.class?.name ?? null;
  const goesOn = "the run goes on with what it began with";
  if (hasMovedUnder(device, run))
    d.condition(
      "IdentityChanged",
      "identity-changed",
      "serial or EKs changed under the run: nothing is minted or served for it",
      run.name,
    );
  if (run.kind !== "attest" && frozen !== device.fleetClass)
    d.condition(
      "ChangedUnderRun",
      "class-changed",
      `fleet_class is ${device.fleetClass ?? "empty"} now: ${goesOn}, ${frozen ?? "no class"}; the next provision takes the new one`,
      run.name,
    );
  if (run.deviceName !== null && run.deviceName !== device.name)
    d.condition(
      "ChangedUnderRun",
      "name-changed",
      `the name is ${device.name} now: it counts from the next provision`,
      run.name,
    );
  const disk = run.disk === null ? null : `${run.disk.device} ${run.disk.serial}`;
  const now = `${device.installDisk ?? "-"} ${device.installDiskSerial ?? "-"}`;
  if (disk !== null && disk !== now)
    d.condition("ChangedUnderRun", "disk-changed", `the install disk is ${now} now: ${goesOn}, ${disk}`, run.name);
  const mac = bootMac(device);
  if (mac !== run.mac && run.mac !== "")
    d.condition(
      "ChangedUnderRun",
      "mac-changed",
      `the MAC is ${mac ?? "unknown"} now: ${goesOn}, ${run.mac}`,
      run.name,
    );
}

/**
 * Row 40: what the owner changed under a run or an installed system counts from the next provision, and is said.
 * @see spec/35-lifecycle-table.md row 40; spec/00-overview.md "Classes"
 */
export function changedUnder(d: Draft): void {
  const { device, classes, classInputs } = d.o;
  const { run, installed } = d.record;
  if (isUnfinished(run)) return underRun(d, run);
  if (installed === null || device.status !== "active") return;
  const now = freezeClass(device.fleetClass, classes, classInputs);
  const { name } = installed.class;
  if (device.fleetClass !== name)
    d.condition(
      "InstalledClass",
      "class-changed",
      `installed as class ${name}: ${device.fleetClass ?? "no class"} counts from the next provision`,
      installed.run,
    );
  else if (now !== null && JSON.stringify(now) !== JSON.stringify(installed.class))
    d.condition(
      "InstalledClass",
      "class-edited",
      `class ${name} was edited after the install: that counts from the next provision`,
      installed.run,
    );
}
