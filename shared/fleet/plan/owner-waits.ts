import { approvedDigests, outsidePins } from "../binding.ts";
import type { Device } from "../device.ts";
import { isInstalledSerial } from "../installed-name.ts";

/** Why a node waits for a person to correct NetBox or git. */
export interface OwnerWait<Code extends string> {
  readonly code: Code;
  readonly detail: string;
}

/** What a node's LDevID says of it, and the common name that the EKs approved now would give it. */
export interface CertifiedNode {
  readonly commonName: string;
  readonly chassisSerial: string;
  readonly approvedCommonName: string;
}

const OUTSIDE_PINS = { code: "ek-not-pinned", detail: "a NetBox binding lies outside FLEET_EK_PINS" } as const;

/** What the device shares with another, told as a reason to wait. */
export function conflictWait(
  { name }: Pick<Device, "name">,
  conflict: string | null,
): OwnerWait<"inventory-conflict"> | null {
  return conflict === null ? null : { code: "inventory-conflict", detail: `${name} ${conflict}: correct NetBox` };
}

/** Whether NetBox and git still say of the device what the certificates of its node say. @see spec/10-protocol.md section 5 */
export function certificateWait(
  device: Device,
  node: CertifiedNode,
  ekPins: unknown,
): OwnerWait<"identity-changed" | "ek-not-pinned"> | null {
  const { name, approvedEks } = device;
  if (!isInstalledSerial(device, { serial: node.chassisSerial }) || node.commonName !== node.approvedCommonName)
    return { code: "identity-changed", detail: `serial or approved EKs of ${name} are not its certificate's` };
  return outsidePins(ekPins, name, approvedDigests(approvedEks)) ? OUTSIDE_PINS : null;
}

/** Whether the name that a node was installed with is another device's now: two nodes would bear it. */
export function namesakeWait(
  { id, name }: Pick<Device, "id" | "name">,
  nodeName: string,
  fleet: readonly Pick<Device, "id" | "name" | "status">[],
): OwnerWait<"inventory-conflict"> | null {
  if (!fleet.some((d) => d.id !== id && d.status !== "offline" && d.name === nodeName)) return null;
  return {
    code: "inventory-conflict",
    detail: `the node was installed as ${nodeName}, which is another device's name now: provision ${name} again`,
  };
}

/** Why NetBox and git as they are admit no adoption of this device, whatever certificates its node has. */
export function adoptionWait(
  device: Device,
  ekPins: unknown,
): OwnerWait<"not-expected" | "ek-not-approved" | "ek-not-pinned"> | null {
  const { name, status } = device;
  const approved = approvedDigests(device.approvedEks);
  if (status !== "active")
    return { code: "not-expected", detail: `${name} is ${status}: only an active device has a running node to adopt` };
  if (approved.length === 0)
    return { code: "ek-not-approved", detail: `approved_eks binds no TPM to ${name}: approve its EK first` };
  return outsidePins(ekPins, name, approved) ? OUTSIDE_PINS : null;
}
