import { stat } from "node:fs/promises";
import { join } from "node:path";
import { readCertificate } from "../../formats/x509/certificate.ts";
import { readCertificatePems } from "../../formats/x509/pem.ts";
import { BadFile, listFiles, readBytes } from "./profile-files.ts";

/**
 * The certificates (DER) of a file, or of every file of a folder: PEM, any number of them, or one in DER. Folders inside
 * of it are left alone.
 * @throws BadFile
 */
export async function readCertificates(path: string): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for (const file of await certificateFiles(path)) all.push(...certificatesIn(file, await readBytes(file)));
  if (all.length === 0) throw new BadFile(`${path}: no certificate`);
  return all;
}

/** The files that `readCertificates` reads: the path itself where it is no folder. @throws BadFile */
export async function certificateFiles(path: string): Promise<string[]> {
  if (!(await isFolder(path))) return [path];
  const inside = (await listFiles(path)).map((name) => join(path, name));
  const folders = await Promise.all(inside.map(isFolder));
  return inside.filter((_, at) => folders[at] === false);
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ?? false;
}

function certificatesIn(file: string, content: Uint8Array): Uint8Array[] {
  const text = new TextDecoder("latin1").decode(content);
  try {
    const ders = text.includes("-----BEGIN") ? readCertificatePems(text) : [new Uint8Array(content)];
    for (const der of ders) readCertificate(der);
    return ders;
  } catch {
    throw new BadFile(`${file}: holds something else than certificates`);
  }
}
