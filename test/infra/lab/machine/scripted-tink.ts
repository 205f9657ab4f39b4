import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A Tink server with one list of actions for whoever asks, as infra/tinkerbell's provision Template gives them. */
export interface ScriptedTink {
  readonly url: string;
  /** "name STATE: message", oldest first. */
  readonly reports: string[];
  /** Agents that asked. */
  readonly agents: Set<string>;
  serve(actions: readonly (readonly string[])[]): void;
  close(): Promise<void>;
}

export async function startScriptedTink(): Promise<ScriptedTink> {
  const reports: string[] = [];
  const agents = new Set<string>();
  let left: { readonly name: string; readonly command: readonly string[] }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
    let answer: unknown = {};
    if (request.url === "/get-action") {
      agents.add(body.agentId ?? "");
      const [next] = left;
      response.statusCode = next === undefined ? 404 : 200;
      answer = next === undefined ? { code: "NOT_FOUND" } : { ...next, workflowId: "w", taskId: "t", timeout: 30 };
    } else {
      reports.push(`${body.name} ${body.state}: ${body.message}`);
      if (body.state !== "RUNNING") left = left.slice(1);
    }
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    reports,
    agents,
    serve(actions) {
      left = actions.map((command) => ({ name: command[0] ?? "", command }));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
