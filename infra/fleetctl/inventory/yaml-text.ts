import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from "yaml";

export interface YamlFault {
  readonly line: number;
  /** Keys down to what is meant; empty: the file. */
  readonly path: readonly string[];
  readonly words: string;
}

export type ReadYaml =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** The line of a key (or entry), or of the deepest one above it that is there. */
      line(path: readonly string[]): number;
    }
  | { readonly ok: false; readonly faults: readonly YamlFault[] };

/** What an owner wrote amiss, by the parser's code. */
const WORDS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: "is a second document (after ---): a file holds one",
  DUPLICATE_KEY: "has a key twice",
  TAB_AS_INDENT: "is indented by a tab: YAML wants spaces",
  BLOCK_AS_IMPLICIT_KEY: 'has a key within a value: put text that holds ": " in quotes',
  BAD_SCALAR_START: "begins with a character that YAML keeps for itself: put the text in quotes",
  MISSING_CHAR: "has a bracket or a quote that is not closed",
  TAG_RESOLVE_FAILED: "has a tag (!…) that nobody knows: leave it out",
};

const PROTOTYPE = "__proto__";

/** One YAML document as a value, in which each key is text that was written as text. Every fault is told by its line. */
export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const faults: YamlFault[] = [];
  const lineAt = (node: unknown) => lines.linePos(rangeOf(node)).line;
  for (const { code, linePos, message } of [...document.errors, ...document.warnings]) {
    const line = linePos?.[0].line ?? 1;
    if (faults.some((fault) => fault.line === line)) continue;
    faults.push({ line, path: [], words: WORDS[code] ?? `is no YAML: ${firstLine(message)}` });
  }
  if (faults.length === 0) checkNode(document.contents, [], { document, lineAt, faults });
  if (faults.length > 0) return { ok: false, faults };
  try {
    // What the library makes of an alias is counted: a file of a few lines can otherwise unfold to gigabytes.
    const value: unknown = document.toJS();
    return { ok: true, value, line: (path) => lineOf(document, lineAt, path) };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    const words = "has aliases (*…) that unfold to too much: write it out, or use defaults";
    return { ok: false, faults: [{ line: firstAlias(document, lineAt), path: [], words }] };
  }
}

interface Check {
  readonly document: Document;
  readonly faults: YamlFault[];
  lineAt(node: unknown): number;
}

function checkNode(node: unknown, path: readonly string[], check: Check): void {
  const fault = (at: unknown, key: readonly string[], words: string) =>
    void check.faults.push({ line: check.lineAt(at), path: [...path, ...key], words });
  if (isAlias(node) && node.resolve(check.document) === undefined)
    fault(node, [], `has an alias *${node.source} of nothing above it`);
  if (isSeq(node)) for (const [i, item] of node.items.entries()) checkNode(item, [...path, String(i)], check);
  if (!isMap(node)) return;
  for (const { key, value } of node.items) {
    if (!isScalar(key)) {
      fault(key, [], "has a key that is no text");
      continue;
    }
    const name = typeof key.value === "string" ? key.value : (key.source ?? "");
    if (name === "") fault(key, [], "has a key that is empty");
    else if (typeof key.value !== "string") fault(key, [name], "must be text: put it in quotes");
    else if (name === "<<") fault(key, [], "has a merge key (<<), which is not read: use defaults");
    else if (name === PROTOTYPE) fault(key, [name], "is no name");
    else checkNode(value, [...path, name], check);
  }
}

function lineOf(document: Document, lineAt: (node: unknown) => number, path: readonly string[]): number {
  let at: unknown = document.contents;
  let found: unknown = null;
  for (const step of path) {
    if (isMap(at)) {
      const pair = at.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair === undefined) break;
      found = pair.key;
      at = pair.value;
    } else if (isCollection(at)) {
      found = at.items[Number(step)] ?? found;
      at = at.items[Number(step)];
    } else break;
  }
  return lineAt(found);
}

function firstAlias(document: Document, lineAt: (node: unknown) => number): number {
  let line = 1;
  visit(document, {
    Alias(_key, node) {
      line = lineAt(node);
      return visit.BREAK;
    },
  });
  return line;
}

function rangeOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

function firstLine(text: string): string {
  return (text.split("\n")[0] ?? text).replace(/ at line \d+, column \d+:?$/, "");
}
