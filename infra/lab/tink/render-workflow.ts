import { randomBytes } from "node:crypto";
import { parse } from "yaml";
import type { LabClient } from "../kubernetes/client.ts";
import {
  at,
  isObject,
  type JsonObject,
  type KubernetesObject,
  listAt,
  objectOf,
  textAt,
  textsAt,
} from "../kubernetes/json.ts";
import type { Paths } from "./paths.ts";
import { RenderError, renderTemplate } from "./template.ts";

const NAME = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const DOMAIN = "[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?";
/** What a container engine takes: the digest of SHA-256 has 64 digits. */
const IMAGE = new RegExp(
  `^(?:${DOMAIN}/)?${NAME}(?:/${NAME})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
);

/** The part of a Workflow's status that its Template makes. */
export interface Rendered {
  readonly agentID: string;
  readonly globalTimeout: number;
  readonly tasks: readonly JsonObject[];
}

/**
 * Renders a Workflow's Template with its hardwareMap.
 * @throws RenderError in the words that the Tink controller has
 */
export async function renderWorkflow(client: LabClient, paths: Paths, workflow: KubernetesObject): Promise<Rendered> {
  const hardwareName = textAt(workflow, "spec", "hardwareRef");
  const template = await client.get(`${paths.templates}/${textAt(workflow, "spec", "templateRef")}`);
  if (template === null) throw new RenderError("template not found");
  if ((await client.get(`${paths.hardware}/${hardwareName}`)) === null) {
    throw new RenderError(`hardware not found: Hardware.tinkerbell.org "${hardwareName}" not found`);
  }
  const values = objectOf(at(workflow, "spec", "hardwareMap")) as Record<string, string>;
  const { name } = workflow.metadata;
  try {
    return tasksOf(renderTemplate(textAt(template, "spec", "data"), values));
  } catch (error) {
    const words = error instanceof Error ? error.message : "failed";
    throw new RenderError(`error rendering template: failed to parse template with ID ${name}: err: ${words}`);
  }
}

function tasksOf(text: string): Rendered {
  const document: unknown = parse(text);
  const tasks = listAt(document, "tasks").map(taskOf);
  const [first] = tasks;
  if (first === undefined) throw new RenderError("template has no tasks");
  const names = tasks.flatMap((task) => listAt(task, "actions").map((action) => textAt(action, "name")));
  if (new Set(names).size !== names.length) throw new RenderError("action names are not unique");
  const timeout = at(document, "global_timeout");
  return { agentID: textAt(first, "agentID"), globalTimeout: typeof timeout === "number" ? timeout : 0, tasks };
}

function taskOf(task: unknown): JsonObject {
  const worker = textAt(task, "worker");
  if (worker === "") throw new RenderError("task has no worker");
  return {
    id: newId(),
    name: textAt(task, "name"),
    agentID: worker,
    ...copied(task, ["volumes", "environment"]),
    actions: listAt(task, "actions").map(actionOf),
  };
}

function actionOf(action: unknown): JsonObject {
  const image = textAt(action, "image");
  if (!IMAGE.test(image)) throw new RenderError(`invalid action image (${image}): invalid reference format`);
  const timeout = at(action, "timeout");
  const name = textAt(action, "name");
  if (name === "" || name.length >= 200) throw new RenderError("invalid action name");
  return {
    id: newId(),
    name,
    image,
    timeout: typeof timeout === "number" ? timeout : 0,
    command: textsAt(action, "command"),
    ...copied(action, ["volumes", "environment", "pid"]),
    state: "PENDING",
  };
}

function copied(source: unknown, keys: readonly string[]): JsonObject {
  const present = keys.filter((key) => isObject(source) && source[key] !== undefined);
  return Object.fromEntries(present.map((key) => [key, at(source, key)]));
}

function newId(): string {
  return randomBytes(16).toString("hex").slice(0, 26).toUpperCase();
}
