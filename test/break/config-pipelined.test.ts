import { connect } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CODE, ConfigWorld, UUID } from "../functions/config/world.ts";

let world: ConfigWorld;
beforeEach(async () => {
  world = await ConfigWorld.start(null);
});
afterEach(() => world.close());

/** Two requests in one write on one connection; everything that came until it closed. */
function pipelined(paths: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(world.port, "127.0.0.1");
    let text = "";
    socket.on("data", (part: Buffer) => {
      text += part.toString();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    const last = paths.length - 1;
    socket.write(
      paths
        .map(
          (path, i) => `GET ${path} HTTP/1.1\r\nhost: f\r\nconnection: ${i === last ? "close" : "keep-alive"}\r\n\r\n`,
        )
        .join(""),
    );
  });
}

const right = `/talos/config?uuid=${UUID}&code=${CODE}`;
const times = (text: string, part: string) => text.split(part).length - 1;

it.each([
  ["behind a wrong code", [`/talos/config?uuid=${UUID}&code=wrong`, right]],
  ["behind itself", [right, right]],
  ["twice behind a wrong code", [`/talos/config?uuid=${UUID}&code=wrong`, right, right]],
])("a configuration asked for %s in one pipeline is not given without being consumed", async (_name, paths) => {
  const body = await world.mint();
  const text = await pipelined(paths);
  const given = times(text, body);
  const later = await world.read();
  const givenLater = later.body === body ? 1 : 0;
  expect(given + givenLater).toBeLessThanOrEqual(1);
  await expect.poll(async () => (await world.record()).config?.state).not.toBe("serving");
  if (given === 1) expect((await world.record()).config?.state).toBe("served");
});
