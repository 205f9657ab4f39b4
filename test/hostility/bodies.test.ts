import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { pcrValues } from "../../shared/runtime/wire-schema.ts";
import { HttpWorld } from "./http-world.ts";

let world: HttpWorld;
let honest: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  world = await HttpWorld.start();
  honest = await world.machine.evidenceBody(await world.machine.begun());
});
afterAll(() => world.close());

async function sent(step: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const response = await fetch(`${world.machine.url}/attest/v1/${step}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  const text = await response.text();
  return { status: response.status, code: JSON.parse(text).code as string | undefined, bytes: text.length };
}

const many = (count: number, one: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => one(i)).join();
const withPcrs = (pcrs: string): string => JSON.stringify({ ...honest, pcrs: 0 }).replace('"pcrs":0', `"pcrs":${pcrs}`);
const withActivations = (list: string): string =>
  JSON.stringify({ ...honest, activations: 0 }).replace('"activations":0', `"activations":${list}`);

/** JSON that is none, or that a reader could choke on. */
const evidence: Readonly<Record<string, () => string | Uint8Array<ArrayBuffer>>> = {
  nothing: () => "",
  "an open brace": () => "{",
  "a list": () => "[]",
  null: () => "null",
  "a million lists in lists": () => `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`,
  "a million open lists": () => "[".repeat(1_000_000),
  "lists in lists in a field": () => withPcrs(`${"[".repeat(400_000)}${"]".repeat(400_000)}`),
  "objects in objects in a field": () => withPcrs(`${'{"7":'.repeat(200_000)}1${"}".repeat(200_000)}`),
  "a hundred thousand PCRs": () => withPcrs(`{${many(100_000, (i) => `"${i}":""`)}}`),
  "a hundred thousand activations": () => withActivations(`[${many(100_000, () => '""')}]`),
  "a hundred thousand wrong activations": () => withActivations(`[${many(100_000, () => "0")}]`),
  "a number that is none": () => withPcrs("1e999"),
  "a number of a megabyte": () => withPcrs("9".repeat(1_000_000)),
  "PCR 24": () => withPcrs(`{"24":"${"00".repeat(32)}"}`),
  "PCR 07": () => withPcrs(`{"07":"${"00".repeat(32)}"}`),
  "two readings of a field, the second of another type": () => `${JSON.stringify(honest).slice(0, -1)},"pcrs":7}`,
  "bytes that are no UTF-8": () => Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d),
  "UTF-16": () => new Uint8Array(Buffer.from(JSON.stringify(honest), "utf16le")),
  "more behind the end": () => `${JSON.stringify(honest)}{}`,
  "a comment": () => `/**/${JSON.stringify(honest)}`,
};

test.each(Object.entries(evidence))(
  "evidence of %s: 400 in few words, and the session is not spent",
  async (_, body) => {
    const answer = await sent("evidence", body());
    expect([answer.status, answer.code]).toEqual([400, "bad-request"]);
    expect(answer.bytes).toBeLessThan(1000);
  },
);

test("a body beyond its bound is refused by its length", async () => {
  expect(await sent("evidence", " ".repeat(2 * 1024 * 1024 + 1))).toMatchObject({ status: 413, code: "too-large" });
  expect(await sent("begin", " ".repeat(64 * 1024 + 1))).toMatchObject({ status: 413, code: "too-large" });
  expect(await sent("confirm", " ".repeat(64 * 1024 + 1))).toMatchObject({ status: 413, code: "too-large" });
});

test("compressed, it is no JSON: nothing is unpacked", async () => {
  const answer = await sent("evidence", Uint8Array.of(0x1f, 0x8b, 8, 0), { "content-encoding": "gzip" });
  expect(answer).toMatchObject({ status: 400, code: "bad-request" });
});

test("names of Object's own are fields that nobody reads", async () => {
  const begin = JSON.stringify(world.machine.beginBody());
  for (const name of ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"]) {
    const more = `${begin.slice(0, -1)},"${name}":{"family":"1.2","serial":"x"}}`;
    expect((await sent("begin", more)).status, name).toBe(200);
    // The field itself is not found through a prototype.
    const instead = begin.replace('"tpm":', `"${name}":`);
    expect(await sent("begin", instead), name).toMatchObject({ status: 400, code: "bad-request" });
  }
});

test("half a character in a serial: it is none", async () => {
  const lone = JSON.stringify({ ...world.machine.beginBody(), serial: "SERIAL" }).replace("SERIAL", "\\ud800X1");
  expect(await sent("begin", lone)).toMatchObject({ status: 400, code: "bad-request" });
});

test("after all that the honest evidence passes in the same session", async () => {
  const answer = await world.machine.post("evidence", honest);
  expect(answer.status, String(answer.body.detail)).toBe(200);
});

test("the description of PCR values is of a record still", () => {
  expect(z.toJSONSchema(pcrValues, { io: "input" })).toMatchObject({
    type: "object",
    additionalProperties: { type: "string" },
  });
});
