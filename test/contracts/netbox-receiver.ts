import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Received {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A receiver of webhooks that answers as it is told to. */
export interface Receiver {
  readonly url: string;
  readonly got: Received[];
  /** Status and delay of the answers from now on. */
  answer(status: number, delayMs?: number): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const got: Received[] = [];
  let status = 204;
  let delayMs = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request.setEncoding("utf8")) body += part;
    got.push({ body, headers: request.headers });
    const told = status;
    await sleep(delayMs);
    response.writeHead(told).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/netbox`,
    got,
    answer(nextStatus, nextDelayMs = 0) {
      status = nextStatus;
      delayMs = nextDelayMs;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
