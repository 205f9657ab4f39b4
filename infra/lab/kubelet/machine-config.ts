import { parseAllDocuments } from "yaml";
import { at, textAt } from "../kubernetes/json.ts";

/** What a kubelet needs of a Talos machine configuration. */
export interface KubeletConfig {
  readonly nodeName: string;
  readonly url: string;
  readonly caPem: string;
  readonly bootstrapToken: string;
}

/**
 * Reads cluster.controlPlane.endpoint, cluster.ca.crt, cluster.token and the name out of a Talos machine configuration
 * of one or more documents.
 * @throws Error where one of them is missing
 * @see facts/talos.md: the name is lower-cased, `_` becomes `-`, other characters are dropped
 */
export function readMachineConfig(text: string): KubeletConfig {
  const documents = parseAllDocuments(text).map((document): unknown => document.toJS());
  const main = documents.find((document) => at(document, "cluster") !== undefined);
  const named = documents.find((document) => textAt(document, "kind") === "HostnameConfig");
  const hostname = textAt(named, "hostname") || textAt(main, "machine", "network", "hostname");
  const config = {
    nodeName: nodeNameOf(hostname),
    url: textAt(main, "cluster", "controlPlane", "endpoint").replace(/\/$/, ""),
    caPem: Buffer.from(textAt(main, "cluster", "ca", "crt"), "base64").toString(),
    bootstrapToken: textAt(main, "cluster", "token"),
  };
  const missing = Object.entries(config).find(([, value]) => value === "");
  if (missing !== undefined) throw new Error(`the machine configuration has no ${missing[0]}`);
  return config;
}

function nodeNameOf(hostname: string): string {
  const kept = hostname
    .toLowerCase()
    .replaceAll("_", "-")
    .replace(/[^a-z0-9.-]/g, "");
  return kept.replace(/^[-.]+|[-.]+$/g, "");
}
