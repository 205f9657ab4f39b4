import type { AddressInfo } from "node:net";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readNodes } from "../../../infra/fleetctl/inventory/nodes-file.ts";
import { run, textFile } from "./cli.ts";

const TOKEN = "a bearer token of more than thirty-two bytes";
const [RSA, ECC, OTHER] = ["a", "b", "c"].map((one) => `sha256:${one.repeat(64)}`) as [string, string, string];
const claim = (device: string | null, digests: readonly string[], contested = false) => ({
  serial: "SN1",
  uuid: "5f272be7-2fdc-5e84-a7b4-48b6c8f112d1",
  device,
  code: device === null ? "unknown-serial" : "ek-not-approved",
  detail: "none of this TPM's EKs is approved\u001b[31m",
  at: "2026-11-29T20:00:00Z",
  peer: "192.0.2.7",
  contested,
  eks: digests.map((digest) => ({ digest, certificate: null, issuer: null, says: null })),
});

let kept: unknown[];
let server: ServerType;
let env: Record<string, string>;

beforeEach(async () => {
  const app = new Hono().get("/claims", (c) =>
    c.req.header("authorization") === `Bearer ${TOKEN}`
      ? c.json({ claims: kept })
      : c.json({ code: "unauthorized", detail: "no" }, 401),
  );
  server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  env = { FLEETCTL_URL: url, FLEETCTL_TOKEN_FILE: textFile(`${TOKEN}\n`, "token") };
  kept = [claim("w1", [RSA, ECC]), claim(null, [OTHER], true)];
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

describe("fleetctl claims", () => {
  test("says who claims what, and that a serial is contested; nothing of a machine moves the terminal", async () => {
    const { code, out } = await run(["claims"], env);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^serial SN1, device w1\n {2}ek-not-approved: none of this TPM's EKs is approved\\u001b\[31m\n/,
    );
    expect(out).toContain(`\n  EK ${RSA}, no certificate\n`);
    expect(out).toMatch(/serial SN1, no device of the fleet, CONTESTED: others claim this serial too\n/);
  });

  test("as JSON, one line each", async () => {
    const { out } = await run(["claims", "--json"], env);
    expect(out.split("\n").map((line) => JSON.parse(line).device)).toEqual(["w1", null]);
  });

  test("none; a refusal; no listener", async () => {
    kept = [];
    expect(await run(["claims"], env)).toEqual({ code: 0, out: "no claims", err: "" });
    const refused = await run(["claims"], { ...env, FLEETCTL_TOKEN_FILE: textFile("another", "token") });
    expect(refused).toEqual({ code: 2, out: "", err: "fleetctl claims: unauthorized: no" });
    const nobody = await run(["claims", "--url", "http://127.0.0.1:1"], env);
    expect([nobody.code, nobody.err]).toEqual([2, expect.stringMatching(/^fleetctl claims: http:.*ECONNREFUSED/)]);
    expect((await run(["claims"])).code).toBe(64);
    expect((await run(["claims", "w1"], env)).err).toMatch(/no operand is taken/);
  });
});

describe("fleetctl approve", () => {
  const approve = (...args: string[]) => run(["approve", ...args], env);
  test("a record and a claim that agree: the lines to write, and nothing written", async () => {
    const args = ["w1", "--ek", RSA, "--ek", ECC.toUpperCase().replace("SHA256", "sha256"), "--source", "SCAN:4711"];
    const { code, out, err } = await approve(...args);
    expect([code, err]).toEqual([0, ""]);
    const bindings = [RSA, ECC].map((digest) => ({ digest, source: "SCAN:4711" }));
    expect(JSON.parse(out.split("\n").at(-1)?.replace("# ", "") ?? "")).toEqual(bindings);
    const read = readNodes([{ name: "stdin", text: out }]);
    expect(read.ok && [...read.nodes]).toEqual([["w1", { approved_eks: bindings }]]);
  });

  test.each(["007", "1e3", "null", "true"])("a device whose name YAML would not read as text: %s", async (name) => {
    kept = [claim(name, [RSA])];
    const { out } = await approve(name, "--ek", RSA, "--source", "SCAN:1");
    const read = readNodes([{ name: "stdin", text: out }]);
    expect(read.ok && [...read.nodes.keys()]).toEqual([name]);
  });

  test("a key that the record lacks is told of, and not approved", async () => {
    const { code, out, err } = await approve("w1", "--ek", RSA, "--source", "SUPPLIER:order 9");
    expect([code, err]).toEqual([0, `the machine also has ${ECC}: not named, so not approved`]);
    expect(out).not.toContain(ECC);
  });

  test("a digest that nobody claims for it: no lines, exit code 1", async () => {
    const other = await approve("w1", "--ek", OTHER, "--source", "SCAN:1");
    expect([other.code, other.out]).toEqual([1, ""]);
    expect(other.err).toMatch(/the machine there is another, or the record is wrong/);
    const unclaimed = await approve("w2", "--ek", RSA, "--source", "SCAN:1");
    expect([unclaimed.code, unclaimed.err]).toEqual([1, expect.stringMatching(/no machine claims to be w2/)]);
  });

  test.each([
    [[], /one device/],
    [["w1"], /--ek DIGEST/],
    [["w1", "--ek", "sha256:12", "--source", "SCAN:1"], /--ek sha256:12: is not sha256:<64 hex>/],
    [["w1", "--ek", RSA], /--source is SCAN/],
    [["w1", "--ek", RSA, "--source", "CLAIM:1"], /--source is SCAN/],
    [["w1", "--ek", RSA, "--source", "SCAN:"], /--source is SCAN/],
  ])("%j is a wrong call", async (args, text) => {
    const { code, err } = await approve(...args);
    expect([code, err]).toEqual([64, expect.stringMatching(text)]);
  });
});
