import { createHash } from "node:crypto";
import { type Installed, type LabDisk, readInstalled } from "./disk.ts";

/** What an installed system keeps on its disk: Talos's STATE partition. */
export interface KeptState {
  readonly machineConfig: string;
  /** Of the kubelet's client certificate, in PEM. */
  readonly keyPem: string;
  readonly certificatePem: string | null;
}

const LENGTH_BYTES = 4;

/** The first disk that boots; null where none does. */
export function installedDisk(disks: readonly LabDisk[]): { disk: LabDisk; installed: Installed } | null {
  for (const disk of disks) {
    const installed = readInstalled(disk);
    if (installed !== null) return { disk, installed };
  }
  return null;
}

/** Reads STATE; null where this very installation has written none. */
export function readState(disk: LabDisk, installed: Installed): KeptState | null {
  const length = Buffer.from(disk.read(offsetOf(disk), LENGTH_BYTES)).readUInt32BE();
  if (length === 0 || length > roomOf(disk)) return null;
  const text = Buffer.from(disk.read(offsetOf(disk) + LENGTH_BYTES, length)).toString();
  try {
    const { of, state } = JSON.parse(text) as { of: string; state: KeptState };
    return of === markOf(installed) ? state : null;
  } catch {
    return null;
  }
}

/**
 * Writes STATE.
 * @throws RangeError where the disk has no room for it
 */
export function writeState(disk: LabDisk, installed: Installed, state: KeptState): void {
  const body = Buffer.from(JSON.stringify({ of: markOf(installed), state }));
  if (body.length > roomOf(disk)) throw new RangeError(`${body.length} bytes are too many for STATE`);
  const head = Buffer.alloc(LENGTH_BYTES);
  head.writeUInt32BE(body.length);
  disk.write(offsetOf(disk), Buffer.concat([head, body]));
}

/** An installer makes a new STATE: an older installation's counts for nothing. */
function markOf({ installer, code }: Installed): string {
  return createHash("sha256").update(`${installer} ${code}`).digest("hex");
}

function offsetOf(disk: LabDisk): number {
  return Math.floor(disk.sizeBytes / 2);
}

function roomOf(disk: LabDisk): number {
  return Math.floor(disk.sizeBytes / 4) - LENGTH_BYTES;
}
