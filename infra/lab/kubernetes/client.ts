import { readFileSync } from "node:fs";
import { Agent, request as httpsRequest } from "node:https";
import { parse } from "yaml";
import { at, type JsonObject, type KubernetesObject, listAt, objectOf, textAt } from "./json.ts";

export interface LabClientOptions {
  readonly url: string;
  readonly caPem: string;
  readonly token?: string;
  /** A client certificate and its key in PEM, in place of a token. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  readonly timeoutMs?: number;
}

/** An answer of the API that is no success. */
export class ClientError extends Error {
  readonly status: number;
  readonly body: JsonObject;

  constructor(call: string, status: number, body: JsonObject) {
    super(`${call}: ${status} ${textAt(body, "message")}`);
    this.status = status;
    this.body = body;
  }
}

/** The lab actors' own client of a Kubernetes API, a lab one or a real one. */
export class LabClient {
  readonly #options: LabClientOptions;
  readonly #agent: Agent;

  constructor(options: LabClientOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, ca: options.caPem, ...options.certificate });
  }

  /** @throws ClientError for an answer that is no success; Error where there is none */
  call(method: string, path: string, body?: unknown, contentType?: string): Promise<JsonObject> {
    const { url, token, timeoutMs = 10_000 } = this.#options;
    const type = contentType ?? (method === "PATCH" ? "application/merge-patch+json" : "application/json");
    return new Promise((resolve, reject) => {
      const text = body === undefined ? "" : JSON.stringify(body);
      const headers = {
        "content-type": type,
        // Without it Node sends a DELETE's body with no length at all.
        "content-length": Buffer.byteLength(text),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      };
      const request = httpsRequest(`${url}${path}`, { method, agent: this.#agent, headers, timeout: timeoutMs });
      request.on("timeout", () => request.destroy(new Error("timeout")));
      request.on("error", reject);
      request.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const answer = objectOf(JSON.parse(Buffer.concat(chunks).toString() || "{}"));
          const status = response.statusCode ?? 0;
          if (status >= 200 && status < 300) resolve(answer);
          else reject(new ClientError(`${method} ${path}`, status, answer));
        });
      });
      request.end(text);
    });
  }

  /** One object; null where there is none. */
  async get(path: string): Promise<KubernetesObject | null> {
    try {
      return (await this.call("GET", path)) as KubernetesObject;
    } catch (error) {
      if (error instanceof ClientError && error.status === 404) return null;
      throw error;
    }
  }

  async list(path: string): Promise<KubernetesObject[]> {
    return listAt(await this.call("GET", path), "items") as KubernetesObject[];
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Makes a client from the current context of a kubeconfig file, and the context's namespace. */
export function clientOf(kubeconfigFile: string): KubeconfigClient {
  const config: unknown = parse(readFileSync(kubeconfigFile, "utf8"));
  const named = (list: string, name: string) => listAt(config, list).find((entry) => textAt(entry, "name") === name);
  const context = named("contexts", textAt(config, "current-context"));
  const cluster = at(named("clusters", textAt(context, "context", "cluster")), "cluster");
  const user = at(named("users", textAt(context, "context", "user")), "user");
  const cert = pemOf(user, "client-certificate");
  const token = textAt(user, "token");
  const url = textAt(cluster, "server");
  const caPem = pemOf(cluster, "certificate-authority");
  const client = new LabClient({
    url,
    caPem,
    ...(token !== "" && { token }),
    ...(cert !== "" && { certificate: { cert, key: pemOf(user, "client-key") } }),
  });
  return { client, url, caPem, namespace: textAt(context, "context", "namespace") || "default" };
}

export interface KubeconfigClient {
  readonly client: LabClient;
  readonly url: string;
  readonly caPem: string;
  readonly namespace: string;
}

/** PEM that stands in a kubeconfig itself, or in a file that it names. */
function pemOf(entry: unknown, key: string): string {
  const inline = textAt(entry, `${key}-data`);
  if (inline !== "") return Buffer.from(inline, "base64").toString();
  const file = textAt(entry, key);
  return file === "" ? "" : readFileSync(file, "utf8");
}
