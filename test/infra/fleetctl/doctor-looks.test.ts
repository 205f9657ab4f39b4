import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { probe } from "../../../infra/fleetctl/doctor/probe.ts";
import { checkRedis } from "../../../infra/fleetctl/doctor/redis.ts";
import { findRedisServer, startRedisServer } from "../../contracts/redis-server.ts";

test("a server whose answer never ends is left after its headers, one that never begins after the time limit", async () => {
  let begin = true;
  const drips = createServer((_request, response) => {
    if (begin) response.writeHead(200, { "content-type": "application/json" });
    const each = setInterval(() => begin && response.write(" "), 100);
    response.on("close", () => clearInterval(each));
  });
  await new Promise<void>((resolve) => drips.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(drips.address() as AddressInfo).port}`;
  expect(await probe(url, undefined, 5000)).toMatchObject({ status: 200, tls: null });
  begin = false;
  await expect(probe(url, undefined, 200)).rejects.toThrow("no answer within 0.2 s");
  // Ends when the last connection is gone.
  await new Promise((resolve) => drips.close(resolve));
});

const redis = findRedisServer();
if (redis !== null)
  test("a Redis that asks for a password, and one that is not there, are told apart", async () => {
    const server = await startRedisServer(redis, ["--requirepass", "another"]);
    const look = async (url: string) =>
      (await checkRedis({ FLEET_REDIS_URL: url, FLEET_REDIS_PERSISTENCE: "refuse", FLEET_CALL_TIMEOUT_MS: 1000 })).map(
        ({ result, text }) => `${result}: ${text}`,
      );
    try {
      expect(await look(server.url)).toEqual([
        expect.stringMatching(/^failed: takes connections, but .*: is the user or password/),
      ]);
    } finally {
      server.stop();
    }
    expect(await look(`${server.url}.gone`)).toEqual([expect.stringMatching(/^failed: connect ENOENT/)]);
  });
