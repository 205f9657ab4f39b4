import type { Device } from "./device.ts";
import type { DeviceRecord } from "./record.ts";

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export interface EkBinding {
  readonly digest: string;
  readonly source: string;
}

/**
 * Reads `approved_eks`: [{digest: "sha256:<64 hex>", source: text}]. Anything malformed, empty or without a source
 * makes the whole list no binding: a half-read list would approve fewer keys than the owner meant.
 * @see spec/00-overview.md "NetBox"
 */
export function parseEkBindings(value: unknown): readonly EkBinding[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > 16) return [];
  const bindings: EkBinding[] = [];
  for (const entry of value) {
    if (typeof entry !== "object" || entry === null) return [];
    const { digest, source } = entry as Record<string, unknown>;
    if (typeof digest !== "string" || !DIGEST.test(digest)) return [];
    if (typeof source !== "string" || source.trim() === "") return [];
    bindings.push({ digest, source });
  }
  return new Set(bindings.map((b) => b.digest)).size === bindings.length ? bindings : [];
}

/** The approved digests, sorted: the device's TPM for comparison over time. */
export function approvedDigests(value: unknown): readonly string[] {
  return parseEkBindings(value)
    .map((b) => b.digest)
    .sort();
}

type Bound = Pick<Device, "status" | "approvedEks">;
type Passed = Pick<DeviceRecord, "passedEks">;
type Accepted = Pick<DeviceRecord, "passedEks" | "acceptedEks">;

/** Whether the approved EKs are others than those of the last pass: the TPM, or the mainboard with it, was replaced. */
export function eksChanged(device: Pick<Device, "approvedEks">, { passedEks }: Passed): boolean {
  return passedEks !== null && approvedDigests(device.approvedEks).join() !== passedEks.join();
}

/** Whether the record says that an owner set the device planned with the very EKs that are approved now. */
export function eksAccepted(device: Bound, { acceptedEks }: Accepted): boolean {
  const now = approvedDigests(device.approvedEks);
  return device.status === "planned" && now.length > 0 && acceptedEks?.join() === now.join();
}

/**
 * Whether the approved EKs are others than those of the last pass without an owner's word that it is so: whoever may
 * edit the field alone, and a status that fleetd set itself, let no other TPM in.
 * @see spec/30-reconcile.md "Requests"; infra/docs/adr/0006-readings-of-the-specification.md
 */
export function identityChanged(device: Bound, record: Accepted): boolean {
  return eksChanged(device, record) && !eksAccepted(device, record);
}

/** The recorded UUID, while it binds: it came with the EKs, and another mainboard that an owner accepted has others of both. */
export function boundUuid(device: Bound, record: Accepted & Pick<DeviceRecord, "uuid">): string | null {
  return eksChanged(device, record) && eksAccepted(device, record) ? null : record.uuid;
}

/** FLEET_EK_PINS: device name → digests. A binding outside the pins of its device is `ek-not-pinned`. */
export function outsidePins(pins: unknown, deviceName: string, digests: readonly string[]): boolean {
  if (pins === null || digests.length === 0) return false;
  const own = (pins as Record<string, unknown>)[deviceName];
  if (!Array.isArray(own)) return true;
  return digests.some((d) => !own.includes(d));
}
