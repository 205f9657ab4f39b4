import { type KubernetesClient, pagedClient } from "../shared/adapters/kubernetes/client.ts";
import { noAnswer, statusError } from "../shared/adapters/kubernetes/errors.ts";
import { objectOf } from "../shared/adapters/kubernetes/json.ts";

/** A binding of workerd to another service: the Kubernetes API with its own CA, over TLS that workerd terminates. */
export interface ServiceBinding {
  fetch(url: string, init: RequestInit): Promise<Response>;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = { PATCH: "application/merge-patch+json" };

/** The Kubernetes client for workerd: @kubernetes/client-node compiles WebAssembly at start, which workerd forbids. */
export function fetchClient(port: string, api: ServiceBinding, token: string, timeoutMs: number): KubernetesClient {
  const call: KubernetesClient["call"] = async (method, path, { query, body, quiet = false } = {}) => {
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    const name = `${method} ${path}`;
    let status: number;
    let json: unknown;
    try {
      const response = await api.fetch(`https://kubernetes${path}${search}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json",
          "content-type": CONTENT_TYPES[method] ?? "application/json",
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      status = response.status;
      json = await response.json();
    } catch (cause) {
      throw noAnswer(port, name, cause);
    }
    if (status >= 400) throw statusError(port, name, status, json, quiet);
    return objectOf(json);
  };
  return pagedClient(port, { timeoutMs }, call);
}
