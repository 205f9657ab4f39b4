import { afterEach, beforeEach, expect, test } from "vitest";
import { CODE, ConfigWorld, UUID } from "../functions/config/world.ts";

const OTHER_UUID = "4c4c4544-0034-4410-8043-b7c04f335132";
const EARLIER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const EARLIER_OF_ANOTHER = "2222222222222222222222222Q";

let world: ConfigWorld;
beforeEach(async () => {
  world = await ConfigWorld.start(null);
  await world.mint();
});
afterEach(() => world.close());

const query = (uuid: string, code: string) => `uuid=${encodeURIComponent(uuid)}&code=${encodeURIComponent(code)}`;

// Each part of an accepted request, changed alone: nothing is served, and the code stays unread.
const rows: readonly (readonly [string, string])[] = [
  ["no query", ""],
  ["uuid removed", `code=${CODE}`],
  ["uuid empty", query("", CODE)],
  ["uuid of one other digit", query(UUID.replace(/1$/, "3"), CODE)],
  ["another device's uuid", query(OTHER_UUID, CODE)],
  ["uuid without hyphens", query(UUID.replaceAll("-", ""), CODE)],
  ["uuid in braces", query(`{${UUID}}`, CODE)],
  ["uuid with a space", query(`${UUID} `, CODE)],
  ["uuid with a NUL", query(`${UUID}\0`, CODE)],
  ["uuid as a list", `uuid[]=${UUID}&code=${CODE}`],
  ["uuid under another name", `UUID=${UUID}&code=${CODE}`],
  ["uuid *", query("*", CODE)],
  ["code removed", `uuid=${UUID}`],
  ["code empty", query(UUID, "")],
  ["code of one other letter", query(UUID, CODE.replace(/2$/, "3"))],
  ["the earlier code", query(UUID, EARLIER)],
  ["another device's code", query(UUID, EARLIER_OF_ANOTHER)],
  ["code in lower case", query(UUID, CODE.toLowerCase())],
  ["code cut", query(UUID, CODE.slice(0, -1))],
  ["code with more", query(UUID, `${CODE}A`)],
  ["code with a line end", query(UUID, `${CODE}\n`)],
  ["code with a NUL", query(UUID, `${CODE}\0`)],
  ["code in full-width letters", query(UUID, `\uff21${CODE.slice(1)}`)],
  ["code *", query(UUID, "*")],
  ["the code's hash", query(UUID, "0".repeat(64))],
  ["uuid and code in each other's place", query(CODE, UUID)],
  ["another code first, the true one second", `uuid=${UUID}&code=${EARLIER}&code=${CODE}`],
  ["another uuid first, the true one second", `uuid=${OTHER_UUID}&uuid=${UUID}&code=${CODE}`],
];

test.each(rows)("%s: not found", async (_, asked) => {
  const reading = await world.read(asked);
  expect(reading.status).toBe(404);
  expect(reading.body).not.toContain("xxxx");
  expect((await world.record()).config?.state).toBe("unread");
});

test.each(["POST", "PUT", "HEAD", "DELETE", "PATCH", "OPTIONS"])("%s: only GET reads", async (method) => {
  const reading = await world.read(undefined, { method });
  expect(reading.status).toBe(405);
  expect((await world.record()).config?.state).toBe("unread");
});

test.each(["/talos/config/", "/talos//config", "/TALOS/CONFIG", "/talos/config%00"])(
  "path %s: nothing is there",
  async (path) => {
    const reading = await world.read(undefined, { path: `${path}?${query(UUID, CODE)}` });
    expect(reading.status).toBe(404);
    expect((await world.record()).config?.state).toBe("unread");
  },
);

// A UUID is a number: firmware writes its letters as it likes.
test("the uuid in upper case is the same, and what is served once is served no more", async () => {
  expect((await world.read(query(UUID.toUpperCase(), CODE))).status).toBe(200);
  expect((await world.read()).status).toBe(410);
});
