import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Captured {
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly text?: string;
  };
}
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

const file = new URL("../../../vectors/netbox/captured.json", import.meta.url);
const all = JSON.parse(readFileSync(file, "utf8")) as Record<string, Captured>;

/** A recorded answer of the real NetBox by `file: name`. */
export function captured(name: string): Captured {
  const entry = all[name];
  if (entry === undefined) throw new Error(`no captured answer "${name}"`);
  return entry;
}

/** Serves answers one after another, whatever is asked, and keeps what was asked. */
export async function replay(answers: readonly Captured["response"][]) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const url = new URL(request.url ?? "/", "http://netbox");
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    asked.push({
      method: request.method ?? "",
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
    });
    const answer = answers[asked.length - 1] ?? { status: 599, headers: {}, text: "nothing more is recorded" };
    response.writeHead(answer.status, answer.headers);
    response.end(answer.text ?? JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
