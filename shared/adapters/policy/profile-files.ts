import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

/** A file that cannot be used; its words name the file and never show what is in it (it may hold cluster secrets). */
export class BadFile extends Error {
  /** It could not be read at all, which another time may mend without any file being written. */
  readonly unread: boolean;

  constructor(words: string, unread = false) {
    super(words);
    this.name = "BadFile";
    this.unread = unread;
  }
}

/** The file that the shipped profiles name for the certificates that sign an operator's own iPXE, HookOS and systems. */
export const OPERATOR_PEM = "operator.pem";

/** More than a profile needs, and far from what the stack holds. */
const MAX_DEPTH = 16;

export interface ProfileReading {
  /** PEM texts by the name that a profile gives them, in place of files. */
  readonly pems?: Readonly<Record<string, string>>;
  /** Offline verification only: without operator.pem, a profile accepts none of an operator's own certificates. */
  readonly operatorMayLack?: boolean;
}

/** No certificate has this digest. */
export const NO_CERTIFICATE = { sha256: "0".repeat(64), subject: `${OPERATOR_PEM}, which is not there` };

/** A profile that is being read. */
interface Place {
  readonly folder: string;
  /** The profile's own file, for the words of an error. */
  readonly file: string;
  readonly reading: ProfileReading;
}

/** The parsed profiles of a folder by file name, the PEMs that they name in place. @throws BadFile */
export async function readProfiles(folder: string, reading: ProfileReading = {}): Promise<Record<string, unknown>> {
  const profiles: [string, unknown][] = [];
  for (const name of await listFiles(folder)) {
    if (!name.endsWith(".json")) continue;
    const file = join(folder, name);
    profiles.push([name.slice(0, -".json".length), await withPems(await readJson(file), { folder, file, reading })]);
  }
  return Object.fromEntries(profiles);
}

/** Puts the text of each PEM file that a `pem` key names in its place, and the name beside it. */
async function withPems(value: unknown, place: Place, depth = 0): Promise<unknown> {
  if (depth > MAX_DEPTH) throw new BadFile(`${place.file}: is nested too deeply for a profile`);
  if (Array.isArray(value)) return Promise.all(value.map((each) => withPems(each, place, depth + 1)));
  if (typeof value !== "object" || value === null) return value;
  if (!("pem" in value) || typeof value.pem !== "string" || value.pem.includes("-----BEGIN")) {
    const entries = Object.entries(value).map(async ([key, each]) => [key, await withPems(each, place, depth + 1)]);
    return Object.fromEntries(await Promise.all(entries));
  }
  const text = await pemText(value.pem, place);
  if (text !== null) return { ...value, pem: text, pemFile: value.pem };
  const { pem: _, ...rest } = value;
  return { ...rest, ...NO_CERTIFICATE };
}

async function pemText(name: string, { folder, file, reading }: Place): Promise<string | null> {
  const given = reading.pems?.[name];
  if (given !== undefined) return given;
  const path = resolve(folder, name);
  if (relative(folder, path).startsWith("..")) throw new BadFile(`${file}: its pem ${name} is outside of ${folder}`);
  try {
    return await readText(path);
  } catch (error) {
    if (!(error instanceof BadFile)) throw error;
    if (name === OPERATOR_PEM && reading.operatorMayLack === true) return null;
    const advice = name === OPERATOR_PEM ? ": put the certificates that sign your iPXE and HookOS there" : "";
    throw new BadFile(`${file} names ${name}: ${error.message}${advice}`, error.unread);
  }
}

/** A file's bytes. @throws BadFile also for a folder, and for a pipe or a device: those have no end */
export async function readBytes(path: string): Promise<Uint8Array> {
  try {
    const found = await stat(path);
    if (found.isFile()) return await readFile(path);
    throw new BadFile(`${path}: is ${found.isDirectory() ? "a folder" : "no regular file"}`, true);
  } catch (error) {
    throw error instanceof BadFile ? error : new BadFile(`${path}: ${codeOf(error)}`, true);
  }
}

export async function readText(path: string): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readBytes(path));
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
    throw new BadFile(`${folder}: ${codeOf(error)}`, true);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "cannot be read";
}
