import { at, type KubernetesObject } from "./json.ts";
import { badRequest } from "./status.ts";

/** Makes a test from labelSelector (`a=b`, `a!=b`, `a`, `!a`, `a in (b,c)`) and fieldSelector (`path=value`). */
export function matcher(labelSelector: string, fieldSelector: string): (object: KubernetesObject) => boolean {
  const labels = splitTerms(labelSelector).map(labelTerm);
  const fields = splitTerms(fieldSelector).map(fieldTerm);
  return (object) =>
    labels.every((matches) => matches(object.metadata.labels ?? {})) && fields.every((matches) => matches(object));
}

function splitTerms(selector: string): string[] {
  return (selector.match(/(?:[^,(]|\([^)]*\))+/g) ?? []).map((term) => term.trim()).filter((term) => term !== "");
}

function labelTerm(term: string): (labels: Readonly<Record<string, string>>) => boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (set?.[1] !== undefined) {
    const [, key, operator, list = ""] = set;
    const values = new Set(list.split(",").map((value) => value.trim()));
    return (labels) => values.has(labels[key] ?? "") === (operator === "in");
  }
  const pair = /^([^!=\s]+)\s*(!?==?)\s*([^!=\s]*)$/.exec(term);
  if (pair?.[1] !== undefined) {
    const [, key, operator, value] = pair;
    return (labels) => (labels[key] === value) === !operator?.startsWith("!");
  }
  const presence = /^(!?)([A-Za-z0-9./_-]+)$/.exec(term);
  if (presence?.[2] === undefined) throw badRequest(`unable to parse requirement: ${term}`);
  const [, not, key] = presence;
  return (labels) => Object.hasOwn(labels, key) === (not === "");
}

function fieldTerm(term: string): (object: KubernetesObject) => boolean {
  const pair = /^([A-Za-z.]+)(!?==?)(.*)$/.exec(term);
  if (pair?.[1] === undefined) throw badRequest(`invalid field selector: ${term}`);
  const [, path, operator, value] = pair;
  return (object) => ((at(object, ...path.split(".")) ?? "") === value) === !operator?.startsWith("!");
}
