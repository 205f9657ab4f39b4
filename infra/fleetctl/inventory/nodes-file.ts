import type { z } from "zod";
import { addressText, parseAddress } from "./addresses.ts";
import { type NodeEntry, nodesFile } from "./nodes-schema.ts";
import { readYaml } from "./yaml-text.ts";

export interface NodesFile {
  /** By name, with the defaults of their files. */
  readonly nodes: ReadonlyMap<string, NodeEntry>;
  /** Gateways by prefix; null where the file names none. */
  readonly prefixes: ReadonlyMap<string, string | null>;
}

export type ReadNodes =
  | ({ readonly ok: true } & NodesFile)
  | { readonly ok: false; readonly faults: readonly string[] };

type Key = keyof NodeEntry;

/** What the files say of one node, so far. */
interface Said {
  readonly own: NodeEntry;
  /** Of each file that names it. */
  readonly defaults: readonly { readonly file: string; readonly values: NodeEntry; line(key: string): number }[];
}

/**
 * Reads nodes files as one, in whatever order; an entry may be spread over several of them, each key once. Every fault is
 * told, by file and line.
 */
export function readNodes(files: readonly { readonly name: string; readonly text: string }[]): ReadNodes {
  const faults: string[] = [];
  const said = new Map<string, Said>();
  const prefixes = new Map<string, string | null>();
  for (const file of files) {
    const at = (line: number, words: string) => faults.push(`${file.name}:${line}: ${words}`);
    const yaml = readYaml(file.text);
    if (!yaml.ok) {
      for (const { line, path, words } of yaml.faults) at(line, `${named(path)}${words}`);
      continue;
    }
    const read = nodesFile.safeParse(yaml.value ?? {});
    if (!read.success) {
      for (const issue of read.error.issues)
        for (const { path, words } of faultsOf(issue)) at(yaml.line(path), `${named(path)}${words}`);
      continue;
    }
    const { defaults = {}, prefixes: ofFile = {}, nodes: entries = {} } = read.data;
    for (const [key, value] of Object.entries(ofFile)) {
      const address = parseAddress(key);
      const prefix = address === null ? key : addressText(address);
      if (prefixes.has(prefix)) at(yaml.line(["prefixes", key]), `prefix ${prefix} is given twice`);
      prefixes.set(prefix, value?.gateway ?? null);
    }
    for (const [name, entry] of Object.entries(entries)) {
      const before = said.get(name) ?? { own: {}, defaults: [] };
      for (const key of Object.keys(entry ?? {}))
        if (key in before.own) at(yaml.line(["nodes", name, key]), `node ${name}: ${key} is given twice`);
      const here = { file: file.name, values: defaults, line: (key: string) => yaml.line(["defaults", key]) };
      said.set(name, { own: { ...before.own, ...entry }, defaults: [...before.defaults, here] });
    }
  }
  for (const [name, node] of said) faults.push(...contradictions(name, node));
  if (faults.length > 0) return { ok: false, faults };
  const whole = ({ own, defaults }: Said) => Object.assign({}, ...defaults.map(({ values }) => values), own);
  return { ok: true, nodes: new Map([...said].map(([name, node]) => [name, whole(node)])), prefixes };
}

/** Defaults of two files that say different things of one node, which itself says nothing. */
function contradictions(name: string, { own, defaults }: Said): string[] {
  const faults: string[] = [];
  const first = new Map<string, { readonly file: string; readonly value: unknown }>();
  for (const { file, values, line } of defaults)
    for (const key of Object.keys(values) as Key[]) {
      const value = values[key];
      const before = first.get(key);
      if (before === undefined) first.set(key, { file, value });
      else if (before.value !== value && !(key in own))
        faults.push(
          `${file}:${line(key)}: node ${name}: the defaults here say ${key} ${value}, those of ${before.file} ${before.value}: let the node say it`,
        );
    }
  return faults;
}

function faultsOf(issue: z.core.$ZodIssue): { readonly path: readonly string[]; readonly words: string }[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: [...path, key], words: "is no key of this file" }));
  if (issue.code === "invalid_key") return issue.issues.map(({ message }) => ({ path, words: message }));
  return [{ path, words: issue.message }];
}

/** `nodes.w1.approved_eks.0.digest` for people. */
function named(path: readonly string[]): string {
  const [top, name, ...rest] = path;
  if (top === undefined) return "the file: ";
  if (name === undefined) return `${top}: `;
  const inner = rest.length === 0 ? "" : `${rest.join(".")}: `;
  return top === "nodes"
    ? `node ${name}: ${inner}`
    : top === "prefixes"
      ? `prefix ${name}: ${inner}`
      : `${path.join(".")}: `;
}
