import type { LabClient } from "../kubernetes/client.ts";
import { at, type JsonObject, objectOf, textAt } from "../kubernetes/json.ts";
import type { Paths } from "./paths.ts";

/** How Rufio reaches one BMC: an HTTP endpoint that speaks bmclib's RPC. */
export interface BmcConnection {
  readonly url: string;
  readonly host: string;
  readonly authorization: string;
}

/** As long as Rufio gives a connection. */
const TIMEOUT_MS = 120_000;

/** Finds the endpoint and the account of a Machine's connection. */
export async function connectionOf(
  client: LabClient,
  paths: Paths,
  bmcUrl: string,
  connection: JsonObject,
): Promise<BmcConnection> {
  const secret = await client.get(`${paths.secrets}/${textAt(connection, "authSecretRef", "name")}`);
  const field = (key: string) => Buffer.from(textAt(secret, "data", key), "base64").toString();
  const account = secret === null ? "" : Buffer.from(`${field("username")}:${field("password")}`).toString("base64");
  return {
    url: textAt(connection, "providerOptions", "rpc", "consumerURL") || bmcUrl,
    host: textAt(connection, "host"),
    authorization: `Basic ${account}`,
  };
}

/**
 * Calls a BMC.
 * @throws Error in the BMC's words; its cause is "connection" where none was made
 */
export async function callBmc(bmc: BmcConnection, method: string, params: JsonObject): Promise<string> {
  const answer = await post(bmc, { id: 1, host: bmc.host, method, params });
  const problem = at(answer, "error");
  if (problem !== undefined) {
    const code = at(problem, "code");
    throw new Error(`provider: rpc: error from rpc consumer: code: ${code}, message: ${textAt(problem, "message")}`);
  }
  return textAt(answer, "result");
}

async function post(bmc: BmcConnection, body: JsonObject): Promise<JsonObject> {
  try {
    const response = await fetch(bmc.url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: bmc.authorization },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.headers.has("content-length")) throw new Error("response body is too large: -1 bytes");
    return objectOf(await response.json());
  } catch {
    throw new Error(`failed to open connection to BMC: provider: rpc: Post "${bmc.url}"`, { cause: "connection" });
  }
}
