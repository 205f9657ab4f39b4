import { statSync } from "node:fs";
import { namesSecretFile } from "./setting-kinds.ts";

/**
 * What others than fleetd may do with the files of its secrets, one line each. A group of fleetd's own may read: so it is
 * with a Secret that Kubernetes mounts with fsGroup.
 */
export function looseFiles(
  env: Readonly<Record<string, string | undefined>>,
  groups: readonly number[] = [process.getgid?.() ?? -1, ...(process.getgroups?.() ?? [])],
): string[] {
  return Object.entries(env).flatMap(([name, path]) => {
    if (!name.startsWith("FLEET_") || !namesSecretFile(name) || path === undefined) return [];
    const found = statSync(path, { throwIfNoEntry: false });
    const who = found === undefined ? null : outsiders(found.mode, groups.includes(found.gid));
    if (found === undefined || who === null) return [];
    const mode = (found.mode & 0o777).toString(8).padStart(4, "0");
    return [`${name}: ${path} has mode ${mode}: ${who}`];
  });
}

function outsiders(mode: number, ownGroup: boolean): string | null {
  if ((mode & 0o007) !== 0) return "everybody on this machine may use it";
  if ((mode & 0o020) !== 0) return "its group may write it";
  return (mode & 0o040) !== 0 && !ownGroup ? "its group, which is none of fleetd's, may read it" : null;
}
