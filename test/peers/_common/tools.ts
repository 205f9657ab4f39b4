import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** The program's file on PATH or in one of the further folders; null where there is none. */
export function findProgram(name: string, folders: readonly string[] = []): string | null {
  for (const folder of [...(process.env.PATH ?? "").split(":"), ...folders]) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}

/** The same. @throws Error that says what is missing and how it is had */
export function needProgram(name: string, howHad: string, folders: readonly string[] = []): string {
  const found = findProgram(name, folders);
  if (found === null) throw new Error(`${name} is missing: ${howHad}`);
  return found;
}
