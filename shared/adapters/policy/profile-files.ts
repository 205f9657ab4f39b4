import { readdir, readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

/** A file that cannot be used; its words name the file and never show what is in it (it may hold cluster secrets). */
export class BadFile extends Error {}

/** The file that the shipped profiles name for the certificates that sign an operator's own iPXE, HookOS and systems. */
export const OPERATOR_PEM = "operator.pem";

export interface ProfileReading {
  /** PEM texts by the name that a profile gives them, in place of files. */
  readonly pems?: Readonly<Record<string, string>>;
  /** Offline verification only: without operator.pem, a profile accepts none of an operator's own certificates. */
  readonly operatorMayLack?: boolean;
}

/** No certificate has this digest. */
export const NO_CERTIFICATE = { sha256: "0".repeat(64), subject: `${OPERATOR_PEM}, which is not there` };

/** The parsed profiles of a folder by name, the PEMs that they name in place. @throws BadFile */
export async function readProfiles(folder: string, reading: ProfileReading = {}): Promise<Record<string, unknown>> {
  const profiles: Record<string, unknown> = {};
  for (const name of await listFiles(folder)) {
    if (!name.endsWith(".json")) continue;
    profiles[name.slice(0, -".json".length)] = await withPems(await readJson(join(folder, name)), folder, reading);
  }
  return profiles;
}

/** Puts the text of each PEM file that a `pem` key names in its place. */
async function withPems(value: unknown, folder: string, reading: ProfileReading): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => withPems(each, folder, reading)));
  if (typeof value !== "object" || value === null) return value;
  if (!("pem" in value) || typeof value.pem !== "string" || value.pem.includes("-----BEGIN")) {
    const entries = Object.entries(value).map(async ([key, each]) => [key, await withPems(each, folder, reading)]);
    return Object.fromEntries(await Promise.all(entries));
  }
  const text = await pemText(value.pem, folder, reading);
  if (text !== null) return { ...value, pem: text };
  const { pem: _, ...rest } = value;
  return { ...rest, ...NO_CERTIFICATE };
}

async function pemText(name: string, folder: string, reading: ProfileReading): Promise<string | null> {
  const given = reading.pems?.[name];
  if (given !== undefined) return given;
  const path = inside(folder, name);
  if (name !== OPERATOR_PEM) return readText(path);
  try {
    return await readText(path);
  } catch (error) {
    if (!(error instanceof BadFile)) throw error;
    if (reading.operatorMayLack === true) return null;
    throw new BadFile(`${error.message}: put the certificates that sign your iPXE and HookOS there`);
  }
}

function inside(folder: string, name: string): string {
  const path = resolve(folder, name);
  if (relative(folder, path).startsWith("..")) throw new BadFile(`${folder}: a profile names a PEM outside of it`);
  return path;
}

export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new BadFile(`${path}: ${codeOf(error)}`);
  }
}

export async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new BadFile(`${path}: no JSON`);
  }
}

/** The files of a folder that do not begin with a dot, sorted. */
export async function listFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
  } catch (error) {
    throw new BadFile(`${folder}: ${codeOf(error)}`);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "cannot be read";
}
