import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { boxed, expectRefused } from "./box.ts";
import { post } from "./node.ts";

const box = boxed({
  limits: { beginPerMinute: 1000, beginInFlight: 4, bodyMs: 300, bodiesPerPeer: 8, bodiesInAll: 12 },
});
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A request whose body never comes; what it was answered. */
function withheld(url: string, path: string, peer: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    sockets.push(socket);
    let text = "";
    socket.on("data", (part) => {
      text += part.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${peer}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
    );
  });
}

test("bodies that do not come hold no place: another peer renews, theirs are closed after their time", async () => {
  const { node, world } = box();
  Object.assign(world.deps, { trustedProxies: ["127.0.0.1"] });
  const paths = ["/renew/v1/begin", "/renew/v1/evidence"];
  const held = [...Array(12).keys()].map((n) => withheld(world.admin, paths[n % 2] ?? "", "192.0.2.1"));
  await new Promise((resolve) => setTimeout(resolve, 100));
  // Eight of one peer are waited for, the others are told.
  await node.renewed();
  expectRefused(
    await post(world.admin, "/renew/v1/begin", { ...node.certificates }, { "x-forwarded-for": "192.0.2.1" }),
    429,
    "rate-limited",
  );
  for (const socket of sockets) socket.on("end", () => socket.destroy());
  const answers = await Promise.all(held.slice(0, 8));
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(answer).toContain('"code":"bad-request"');
  }
  const { status } = await post(
    world.admin,
    "/renew/v1/begin",
    { ...node.certificates },
    { "x-forwarded-for": "192.0.2.1" },
  );
  expect(status).toBe(200);
});

test("of all addresses together so many, then 503; a moment later there is room", async () => {
  const { node, world } = box();
  Object.assign(world.deps, { trustedProxies: ["127.0.0.1"] });
  const held = [...Array(12).keys()].map((n) => withheld(world.admin, "/renew/v1/begin", `192.0.2.${n % 6}`));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expectRefused(await node.begin(), 503, "inventory-unavailable");
  await Promise.all(held);
  await node.renewed();
});

test("nor do they on the device listener, whose begin has places too", async () => {
  const { world } = box();
  Object.assign(world.deps, { trustedProxies: ["127.0.0.1"] });
  const held = [...Array(8).keys()].map(() => withheld(world.device, "/attest/v1/begin", "192.0.2.1"));
  await new Promise((resolve) => setTimeout(resolve, 100));
  const answer = await post(world.device, "/attest/v1/begin", {}, { "x-forwarded-for": "192.0.2.2" });
  expect([answer.status, answer.body.code]).toEqual([400, "bad-request"]);
  for (const text of await Promise.all(held)) expect(text).toMatch(/^HTTP\/1\.1 400 /);
});
