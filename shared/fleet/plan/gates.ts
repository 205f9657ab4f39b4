import { identityChanged } from "../binding.ts";
import { type FleetClass, freezeClass } from "../class.ts";
import type { ReasonOf } from "../condition.ts";
import { isName, isSerial } from "../conflicts.ts";
import type { Device } from "../device.ts";
import { machine } from "../manifests/machine.ts";
import { isEarlier } from "../moment.ts";
import type { Observed } from "../observed.ts";
import { registry as renderers } from "../payload/registry.gen.ts";
import { type RunKind, touchesDisk } from "../record.ts";

export interface Gate {
  /** Code of spec/10 where there is one. */
  readonly code: ReasonOf<"RequestWaits">;
  readonly text: string;
}

export const DISK = /^(nvme\d{1,3}n\d{1,3}|sd[a-z]{1,2}|vd[a-z]{1,2}|mmcblk\d{1,2})$/;
export const DISK_SERIAL = /^[A-Za-z0-9._-]{1,64}$/;

/** True where a BMC can power-cycle the device. */
export function hasBmc(o: Pick<Observed, "device" | "settings">): boolean {
  return machine(o.device, o.settings).ok;
}

function diskGate(device: Device): Gate | null {
  if (device.protected) return { code: "protected", text: "the device is protected: no run may touch its disk" };
  if (device.installDisk === null || !DISK.test(device.installDisk))
    return { code: "disk-missing", text: "install_disk is not a kernel name such as nvme0n1" };
  if (device.installDiskSerial === null || !DISK_SERIAL.test(device.installDiskSerial))
    return { code: "disk-serial-missing", text: "install_disk_serial is empty or not [A-Za-z0-9._-]{1,64}" };
  return null;
}

function classAdvice(name: string | null, known: readonly string[]): string {
  return `fleet_class is ${name ?? "empty"}; it must be one of ${known.join(", ")}`;
}

/** True for a class whose nodes join with the cluster-wide token: Talos workers alone have tokens of their own. */
export function asksClusterToken({ workload, os }: Pick<FleetClass, "workload" | "os">): boolean {
  return workload === "controlplane" || (workload === "worker" && os !== "talos");
}

function provisionGate(o: Observed): Gate | null {
  const frozen = freezeClass(o.device.fleetClass, o.classes, o.classInputs);
  if (frozen === null) return null;
  const { class: cls, pin, name } = frozen;
  if (cls.attestation === "unsupported" || cls.payload === "none") return null;
  if (pin === null)
    return { code: "pin-incomplete", text: `class ${name} has no complete pin of what an install writes` };
  if (!Object.hasOwn(renderers, cls.payload))
    return { code: "unsupported-class", text: `class ${name} asks for payload ${cls.payload}, which has no renderer` };
  if (o.device.address === null)
    return { code: "address-missing", text: "the device has no primary IPv4 address in NetBox to configure it with" };
  if (cls.workload === "controlplane" && !o.settings.controlPlanes)
    return { code: "control-planes-off", text: "control planes install only with FLEET_CONTROL_PLANES=true" };
  if (asksClusterToken(cls) && !o.device.clusterTokenApproved)
    return {
      code: "cluster-token",
      text: `class ${name} asks for the cluster-wide token: the owner sets cluster_token_approved`,
    };
  return null;
}

/**
 * The first gate that a run of this kind fails, or null. Checked before `starting` is written and again before the
 * Workflow is enabled; one unfinished run and a free slot are asked by the caller, who knows which are its own.
 * @see spec/35-lifecycle-table.md "Gates"
 */
export function failingGate(o: Observed, kind: RunKind): Gate | null {
  const { device, record } = o;
  if (!isName(device.name))
    return { code: "name-invalid", text: "the name is not a DNS-1123 label of at most 40 characters" };
  if (!isSerial(device.serial))
    return { code: "name-invalid", text: "the serial is empty, a placeholder, or not [A-Za-z0-9._-]{1,64}" };
  if (o.conflict !== null) return { code: "inventory-conflict", text: o.conflict };
  if (kind !== "retire" && freezeClass(device.fleetClass, o.classes, o.classInputs) === null)
    return { code: "class-unknown", text: classAdvice(device.fleetClass, Object.keys(o.classes)) };
  if (touchesDisk(kind)) {
    const gate = diskGate(device);
    if (gate !== null) return gate;
  }
  if (kind === "provision") {
    const gate = provisionGate(o);
    if (gate !== null) return gate;
  }
  if (touchesDisk(kind) && record.rowSeen !== null && isEarlier(device.lastUpdated, record.rowSeen))
    return { code: "request-held", text: "NetBox went back in time: no disk run until a fresh request" };
  // A retirement erases and lets nobody in: an edit of the field must not hold it up.
  if (kind !== "retire" && identityChanged(device, record))
    return { code: "identity-changed", text: "approved_eks changed since the last pass, and no owner accepted it" };
  return null;
}
