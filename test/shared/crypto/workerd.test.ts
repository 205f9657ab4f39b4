import { type ChildProcess, spawn } from "node:child_process";
import { constants, generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ProbeInput, probe } from "./workerd-probe.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
let folder = "";
let workerd: ChildProcess | null = null;
let port = 0;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .probe)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const probe :Workerd.Worker = (
  modules = [(name = "probe", esModule = embed "probe.mjs")],
  compatibilityDate = "2026-08-04",
  compatibilityFlags = ["nodejs_compat"]
);
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fleetd-workerd-"));
  await build({
    entryPoints: [fileURLToPath(new URL("workerd-entry.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*"],
    outfile: join(folder, "probe.mjs"),
    logLevel: "silent",
  });
  writeFileSync(join(folder, "config.capnp"), CONFIG);
  const bin = join(root, "node_modules/.bin/workerd");
  // workerd tells the port that the kernel gave it on its control descriptor.
  const child = spawn(bin, ["serve", "--control-fd=3", join(folder, "config.capnp")], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  workerd = child;
  port = await new Promise<number>((resolve, reject) => {
    let told = "";
    let complaints = "";
    child.stderr?.on("data", (chunk) => {
      complaints += String(chunk);
    });
    child.stdio[3]?.on("data", (chunk) => {
      told += String(chunk);
      const found = /"port":\s*(\d+)/.exec(told);
      if (found) resolve(Number(found[1]));
    });
    child.on("exit", (code) => reject(new Error(`workerd ended with ${code}: ${complaints}`)));
  });
});

afterAll(() => {
  workerd?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function probeInput(): ProbeInput {
  const data = Buffer.from("what both runtimes must agree on");
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = rsa.publicKey.export({ format: "jwk" });
  const part = (text: string | undefined) => Buffer.from(text ?? "", "base64url").toString("hex");
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const saltLength = constants.RSA_PSS_SALTLEN_MAX_SIGN;
  return {
    data: data.toString("hex"),
    rsa: {
      modulus: part(jwk.n),
      exponent: part(jwk.e),
      rsassa: sign("sha256", data, rsa.privateKey).toString("hex"),
      rsapss: sign("sha256", data, { key: rsa.privateKey, padding, saltLength }).toString("hex"),
    },
    ec: (["P-256", "P-384"] as const).map((curve) => {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: curve });
      const point = publicKey.export({ format: "jwk" });
      const hash = curve === "P-256" ? "sha256" : "sha384";
      const raw = sign(hash, data, { key: privateKey, dsaEncoding: "ieee-p1363" });
      const half = raw.length / 2;
      const der = sign(hash, data, privateKey).toString("hex");
      return {
        curve,
        x: part(point.x),
        y: part(point.y),
        r: raw.subarray(0, half).toString("hex"),
        s: raw.subarray(half).toString("hex"),
        der,
      };
    }),
  };
}

test("every primitive gives on workerd what it gives on Node", async () => {
  const input = probeInput();
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(input) });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const onNode = probe(input);
  expect(JSON.parse(text)).toEqual(onNode);
  expect(onNode).toEqual(
    expect.objectContaining({
      rsassa: true,
      rsassaOther: false,
      rsapss: true,
      rsapssOther: false,
      gcmChanged: "null",
      oaep: 256,
    }),
  );
  expect(onNode["P-384 ecdsa"]).toBe(true);
  expect(onNode["P-256 off its curve"]).toBe(false);
});
