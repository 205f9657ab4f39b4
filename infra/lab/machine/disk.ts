import { closeSync, existsSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";

/** A disk of a lab machine. */
export interface LabDisk {
  /** The kernel's name of it, as a device path. */
  readonly device: string;
  readonly serial: string;
  readonly sizeBytes: number;
  read(offset: number, length: number): Uint8Array;
  write(offset: number, bytes: Uint8Array): void;
}

export const DISK_BYTES = 64 * 1024;

/** A disk whose bytes are a file; the file is made where it isn't there. */
export function fileDisk(file: string, device: string, serial: string, sizeBytes: number = DISK_BYTES): LabDisk {
  const withFile = <T>(use: (descriptor: number) => T): T => {
    const descriptor = openSync(file, "r+");
    try {
      return use(descriptor);
    } finally {
      closeSync(descriptor);
    }
  };
  if (!existsSync(file)) {
    const descriptor = openSync(file, "w");
    ftruncateSync(descriptor, sizeBytes);
    closeSync(descriptor);
  }
  const check = (offset: number, length: number) => {
    if (offset < 0 || offset + length > sizeBytes) throw new RangeError(`${device} has ${sizeBytes} bytes`);
  };
  return {
    device,
    serial,
    sizeBytes,
    read(offset, length) {
      check(offset, length);
      const bytes = new Uint8Array(length);
      withFile((descriptor) => readSync(descriptor, bytes, 0, length, offset));
      return bytes;
    },
    write(offset, bytes) {
      check(offset, bytes.length);
      withFile((descriptor) => writeSync(descriptor, bytes, 0, bytes.length, offset));
    },
  };
}

/** Zeroes the ends, where partition tables lie: a sixteenth of the disk each. */
export function wipeDisk(disk: LabDisk): void {
  const end = Math.floor(disk.sizeBytes / 16);
  disk.write(0, new Uint8Array(end));
  disk.write(disk.sizeBytes - end, new Uint8Array(end));
}

/** Zeroes every byte. */
export function eraseDisk(disk: LabDisk): void {
  disk.write(0, new Uint8Array(disk.sizeBytes));
}

const MARK = "TALOS\n";
const META_BYTES = 1024;

/** What an installed lab disk boots. */
export interface Installed {
  readonly installer: string;
  /** Key 0xb of META: the code of the configuration's URL; null where none was written. */
  readonly code: string | null;
}

/** Writes a boot mark and META, as Talos's installer does. */
export function installTalos(disk: LabDisk, installer: string, code: string | null): void {
  const meta = JSON.stringify({ code });
  writeText(disk, metaOffset(disk), meta, META_BYTES);
  writeText(disk, 0, `${MARK}${installer}`, META_BYTES);
}

/** Reads what the disk boots; null where nothing is installed. */
export function readInstalled(disk: LabDisk): Installed | null {
  const text = readText(disk, 0, META_BYTES);
  if (!text.startsWith(MARK)) return null;
  const { code } = JSON.parse(readText(disk, metaOffset(disk), META_BYTES)) as { readonly code: string | null };
  return { installer: text.slice(MARK.length), code };
}

function metaOffset(disk: LabDisk): number {
  return Math.floor(disk.sizeBytes / 4);
}

function writeText(disk: LabDisk, offset: number, text: string, room: number): void {
  const bytes = Buffer.alloc(room);
  if (Buffer.byteLength(text) > room) throw new RangeError(`${text.length} characters are too many`);
  bytes.write(text);
  disk.write(offset, bytes);
}

function readText(disk: LabDisk, offset: number, room: number): string {
  return Buffer.from(disk.read(offset, room)).toString().replace(/\0+$/, "");
}
