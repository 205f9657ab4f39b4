import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createClient } from "../../../../shared/adapters/netbox/client.ts";

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A NetBox that closes the connection on its first request, as gunicorn does with one that lay idle. */
async function closingOnce(then: number) {
  const asked: string[] = [];
  server = createServer((request, response) => {
    asked.push(request.method ?? "");
    if (asked.length === 1) return void request.socket.destroy();
    response.writeHead(then, { "content-type": "application/json" });
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { client: createClient({ url, token: "t", timeoutMs: 2000 }), asked };
}

it("a read is sent again", async () => {
  const { client, asked } = await closingOnce(200);
  expect(await client.get("/api/status/")).toEqual({});
  expect(asked).toEqual(["GET", "GET"]);
});

it("a write under If-Match is sent again: where the first was done, the second is a conflict", async () => {
  const { client, asked } = await closingOnce(412);
  const write = client.send("PATCH", "/api/dcim/devices/7/", { name: "w7" }, 'W/"1"');
  await expect(write).rejects.toMatchObject({ kind: "conflict" });
  expect(asked).toEqual(["PATCH", "PATCH"]);
});

it.each(["POST", "PATCH"] as const)("a %s without it is not: it may have been done", async (method) => {
  const { client, asked } = await closingOnce(201);
  await expect(client.send(method, "/api/extras/journal-entries/", {})).rejects.toMatchObject({ kind: "unavailable" });
  expect(asked).toEqual([method]);
});
