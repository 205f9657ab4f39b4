import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import type { LabClient } from "../kubernetes/client.ts";

const TEMPLATES = new URL("../../tinkerbell/templates/", import.meta.url);

interface Template {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Gives Tinkerbell's API the very Templates that production uses, and the BMC Secret of a type. */
export async function applyTemplates(client: LabClient, namespace: string, bmcType: string): Promise<string[]> {
  const names: string[] = [];
  for (const file of readdirSync(TEMPLATES).filter((f) => f.endsWith(".yaml"))) {
    const template = parse(readFileSync(new URL(file, TEMPLATES), "utf8")) as Template;
    await client.call("POST", `/apis/tinkerbell.org/v1alpha1/namespaces/${namespace}/templates`, {
      ...template,
      metadata: { ...template.metadata, namespace },
    });
    names.push(template.metadata.name);
  }
  await client.call("POST", `/api/v1/namespaces/${namespace}/secrets`, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bmc-${bmcType}`, namespace },
    type: "Opaque",
    data: { username: Buffer.from("lab").toString("base64"), password: Buffer.from("lab").toString("base64") },
  });
  return names;
}
