import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { readCertificate } from "../../formats/x509/certificate.ts";
import { readCertificatePems } from "../../formats/x509/pem.ts";
import { BadFile, listFiles } from "./profile-files.ts";

/**
 * The certificates (DER) of a file, or of every file of a folder: PEM, any number of them, or one in DER.
 * @throws BadFile
 */
export async function readCertificates(path: string): Promise<Uint8Array[]> {
  const files = await certificateFiles(path);
  const all: Uint8Array[] = [];
  for (const file of files) all.push(...certificatesIn(file, await readFile(file)));
  if (all.length === 0) throw new BadFile(`${path}: no certificate`);
  return all;
}

/** The files that `readCertificates` reads; none where there is nothing. */
export async function certificateFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => null);
  if (found === null) return [];
  return found.isDirectory() ? (await listFiles(path)).map((name) => join(path, name)) : [path];
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
