import { parse } from "yaml";
import { z } from "zod";
import type { ActionView } from "../boot-plane.ts";

const templateSchema = z.looseObject({
  tasks: z.array(
    z.looseObject({
      actions: z.array(
        z.looseObject({ name: z.string(), image: z.string(), command: z.array(z.string()).default([]) }),
      ),
    }),
  ),
});

export interface ExpectedAction {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
}

/**
 * Renders the part of Go's text/template that fleetd's own Templates use: `{{ .key }}` and `{{ if eq .key "x" }} …
 * {{ else }} … {{ end }}`. Null where the text holds anything else: an owner's Template may.
 */
function renderText(text: string, values: Readonly<Record<string, string>>): string | null {
  const parts = text.split(/(\{\{-?[^{}]*-?\}\})/);
  const stack: { readonly outer: boolean; taken: boolean }[] = [];
  let writing = true;
  let out = "";
  for (const part of parts) {
    const tag = /^\{\{-?\s*(.*?)\s*-?\}\}$/.exec(part)?.[1];
    if (tag === undefined) {
      if (writing) out += part;
      continue;
    }
    const condition = /^if eq \.([a-z_0-9]+) "([^"]*)"$/.exec(tag);
    const key = /^\.([a-z_0-9]+)$/.exec(tag)?.[1];
    const top = stack.at(-1);
    if (condition !== null) {
      const holds = values[condition[1] ?? ""] === condition[2];
      stack.push({ outer: writing, taken: holds });
      writing = writing && holds;
    } else if (tag === "else" && top !== undefined) writing = top.outer && !top.taken;
    else if (tag === "end" && top !== undefined) {
      stack.pop();
      writing = top.outer;
    } else if (key !== undefined && Object.hasOwn(values, key)) {
      if (writing) out += values[key];
    } else return null;
  }
  return stack.length === 0 ? out : null;
}

/** The actions that a Template gives for these values; null where it cannot be read here. */
export function expectedActions(
  template: string,
  values: Readonly<Record<string, string>>,
): readonly ExpectedAction[] | null {
  const text = renderText(template, values);
  if (text === null) return null;
  let tree: unknown;
  try {
    tree = parse(text);
  } catch {
    return null;
  }
  const read = templateSchema.safeParse(tree);
  return read.success ? read.data.tasks.flatMap((t) => t.actions) : null;
}

/**
 * How the rendered actions differ from the Template's, by name, image and command, or null where they do not: a value
 * spliced into YAML can add actions, and they would run as root on the machine.
 * @see spec/30-reconcile.md "What the peers really do"
 */
export function actionsDiffer(expected: readonly ExpectedAction[], rendered: readonly ActionView[]): string | null {
  const names = (list: readonly { name: string }[]) => list.map((a) => a.name).join(", ");
  if (names(expected) !== names(rendered)) return `it has ${names(rendered)}; the Template says ${names(expected)}`;
  for (const [i, action] of expected.entries()) {
    const seen = rendered[i];
    if (seen === undefined || seen.image !== action.image || seen.command.join("\n") !== action.command.join("\n"))
      return `action ${action.name} has another image or command than the Template's`;
  }
  return null;
}
