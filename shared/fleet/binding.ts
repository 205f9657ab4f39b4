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

interface Passed {
  readonly passedEks: readonly string[] | null;
}

/** Whether the approved EKs are others than those of the last pass: the TPM, or the mainboard with it, was replaced. */
export function eksChanged(device: { readonly approvedEks: unknown }, { passedEks }: Passed): boolean {
  return passedEks !== null && approvedDigests(device.approvedEks).join() !== passedEks.join();
}

/** The recorded UUID, while it binds: it came with the EKs, and another mainboard has others of both. */
export function boundUuid(
  device: { readonly approvedEks: unknown },
  record: Passed & { readonly uuid: string | null },
): string | null {
  return eksChanged(device, record) ? null : record.uuid;
}

/** FLEET_EK_PINS: device name → digests. A binding outside the pins of its device is `ek-not-pinned`. */
export function outsidePins(pins: unknown, deviceName: string, digests: readonly string[]): boolean {
  if (pins === null || digests.length === 0) return false;
  const own = (pins as Record<string, unknown>)[deviceName];
  if (!Array.isArray(own)) return true;
  return digests.some((d) => !own.includes(d));
}
