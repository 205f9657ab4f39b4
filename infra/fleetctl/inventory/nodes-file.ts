import { type Document, isCollection, isMap, isPair, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import { type NodeEntry, nodesFile } from "./nodes-schema.ts";

export interface NodesFile {
  /** By name, with the defaults of their file. */
  readonly nodes: ReadonlyMap<string, NodeEntry>;
  /** Gateways by prefix; null where the file names none. */
  readonly prefixes: ReadonlyMap<string, string | null>;
}

export type ReadNodes =
  | ({ readonly ok: true } & NodesFile)
  | { readonly ok: false; readonly faults: readonly string[] };

/** Reads nodes files as one; an entry may be spread over several of them, each key once. Every fault is told, by file and line. */
export function readNodes(files: readonly { readonly name: string; readonly text: string }[]): ReadNodes {
  const faults: string[] = [];
  const nodes = new Map<string, NodeEntry>();
  const prefixes = new Map<string, string | null>();
  for (const file of files) {
    const lines = new LineCounter();
    const document = parseDocument(file.text, { lineCounter: lines });
    const at = (line: number, words: string) => faults.push(`${file.name}:${line}: ${words}`);
    for (const error of document.errors) at(error.linePos?.[0].line ?? 1, firstLine(error.message));
    if (document.errors.length > 0) continue;
    const read = nodesFile.safeParse(document.toJS() ?? {});
    if (!read.success) {
      for (const issue of read.error.issues)
        for (const one of faultsOf(issue, document, lines)) at(one.line, one.words);
      continue;
    }
    const { defaults = {}, prefixes: ofFile = {}, nodes: entries = {} } = read.data;
    for (const [prefix, value] of Object.entries(ofFile)) {
      if (prefixes.has(prefix)) at(lineOf(document, lines, ["prefixes", prefix]), `prefix ${prefix} is given twice`);
      prefixes.set(prefix, value?.gateway ?? null);
    }
    for (const [name, entry] of Object.entries(entries)) {
      const before = nodes.get(name);
      for (const key of Object.keys(entry ?? {}))
        if (before !== undefined && key in before)
          at(lineOf(document, lines, ["nodes", name, key]), `node ${name}: ${key} is given twice`);
      nodes.set(name, { ...defaults, ...before, ...entry });
    }
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, nodes, prefixes };
}

interface Fault {
  readonly line: number;
  readonly words: string;
}

function faultsOf(issue: z.core.$ZodIssue, document: Document, lines: LineCounter): Fault[] {
  const path = issue.path.map(String);
  const fault = (at: readonly string[], words: string): Fault => ({
    line: lineOf(document, lines, at),
    words: `${named(at)}${words}`,
  });
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => fault([...path, key], "is no key of this file"));
  if (issue.code === "invalid_key") return issue.issues.map(({ message }) => fault(path, message));
  return [fault(path, issue.message)];
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

/** The line of a key (or entry) of the document, or of the deepest one above it that is there. */
function lineOf(document: Document, lines: LineCounter, path: readonly string[]): number {
  let at: unknown = document.contents;
  let offset = 0;
  for (const step of path) {
    if (isMap(at)) {
      const pair = at.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined || !isPair(pair)) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      at = pair.value;
    } else if (isCollection(at)) {
      const item = at.items[Number(step)] as Node | undefined;
      offset = item?.range?.[0] ?? offset;
      at = item;
    } else break;
  }
  return lines.linePos(offset).line;
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? text).replace(/ at line \d+, column \d+:?$/, "");
}
