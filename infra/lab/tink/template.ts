/** A Template that can't be rendered; its message is of the form that Go's text/template has. */
export class RenderError extends Error {}

type Token =
  | { readonly kind: "text" | "value"; readonly text: string }
  | { readonly kind: "if"; readonly key: string; readonly value: string }
  | { readonly kind: "else" | "end" };

/** null in a branch that isn't taken: it isn't executed, and its missing keys are no errors. */
type Values = Readonly<Record<string, string>> | null;

/**
 * Renders the subset of Go's text/template that the lab knows: `{{ .key }}` and
 * `{{ if eq .key "x" }}…{{ else }}…{{ end }}`. A missing key is an error; values go in as they are.
 */
export function renderTemplate(source: string, values: Readonly<Record<string, string>>): string {
  const tokens = source.split(/(\{\{-?[^}]*-?\}\})/).map(tokenOf);
  const position = { index: 0 };
  const text = renderUntil(tokens, position, values, false);
  if (position.index < tokens.length) throw new RenderError("template: unexpected {{else}} or {{end}}");
  return text;
}

function tokenOf(part: string): Token {
  const action = /^\{\{\s*(.*?)\s*\}\}$/.exec(part)?.[1];
  if (action === undefined) return { kind: "text", text: part };
  const value = /^\.([A-Za-z_][A-Za-z0-9_]*)$/.exec(action)?.[1];
  if (value !== undefined) return { kind: "value", text: value };
  const condition = /^if\s+eq\s+\.([A-Za-z_][A-Za-z0-9_]*)\s+"([^"]*)"$/.exec(action);
  if (condition?.[1] !== undefined) return { kind: "if", key: condition[1], value: condition[2] ?? "" };
  if (action === "else" || action === "end") return { kind: action };
  throw new RenderError(`template: the lab does not know {{${action}}}`);
}

function renderUntil(tokens: readonly Token[], position: { index: number }, values: Values, inside: boolean): string {
  let text = "";
  for (;;) {
    const token = tokens[position.index];
    if (token === undefined) {
      if (inside) throw new RenderError("template: unexpected EOF");
      return text;
    }
    if (token.kind === "else" || token.kind === "end") return text;
    position.index += 1;
    if (token.kind === "text") text += token.text;
    else if (token.kind === "value") text += entryOf(values, token.text);
    else if (token.kind === "if") text += renderIf(tokens, position, values, token);
  }
}

function renderIf(
  tokens: readonly Token[],
  position: { index: number },
  values: Values,
  condition: { readonly key: string; readonly value: string },
): string {
  const holds = entryOf(values, condition.key) === condition.value;
  const whenTrue = renderUntil(tokens, position, holds ? values : null, true);
  let whenFalse = "";
  if (tokens[position.index]?.kind === "else") {
    position.index += 1;
    whenFalse = renderUntil(tokens, position, holds ? null : values, true);
  }
  if (tokens[position.index]?.kind !== "end") throw new RenderError("template: expected {{end}}");
  position.index += 1;
  return holds ? whenTrue : whenFalse;
}

function entryOf(values: Values, key: string): string {
  if (values === null) return "";
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  if (value === undefined) {
    throw new RenderError(`executing "workflow-template" at <.${key}>: map has no entry for key "${key}"`);
  }
  return value;
}
