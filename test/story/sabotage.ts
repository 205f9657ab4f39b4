import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";

export interface Spoil {
  /** Path from the project's root. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/**
 * Starts fleetd with some lines of its own code spoiled, as a mistake would have written them. A line that is not there
 * any more is an error: a sabotage that spoils nothing would prove nothing.
 */
export async function serveSpoiled(spoils: readonly Spoil[]): Promise<void> {
  const root = new URL("../../", import.meta.url);
  const byUrl = new Map<string, Spoil[]>();
  for (const spoil of spoils) {
    const url = new URL(spoil.file, root);
    const text = readFileSync(url, "utf8");
    if (text.split(spoil.find).length !== 2) throw new Error(`${spoil.file} does not hold once: ${spoil.find}`);
    byUrl.set(url.href, [...(byUrl.get(url.href) ?? []), spoil]);
  }
  registerHooks({
    load(url, context, next) {
      const mine = byUrl.get(url);
      if (mine === undefined) return next(url, context);
      const text = mine.reduce(
        (t, { find, replace }) => t.replace(find, () => replace),
        readFileSync(new URL(url), "utf8"),
      );
      return { format: "module", source: stripTypeScriptTypes(text), shortCircuit: true };
    },
  });
  await import("../../functions/serve.ts");
}
