import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LabAuthority } from "../../infra/lab/kubernetes/authority.ts";
import { freePorts } from "../../infra/lab/world/ports.ts";
import { type Peers, startPeers } from "./attest/peers.ts";

const TOKEN = randomBytes(32).toString("hex");
let peers: Peers;
let env: Record<string, string>;
let child: ChildProcess | null = null;
const admins = new LabAuthority("Admins");
const ports: number[] = [];

/** Starts functions/serve.ts; resolves with its exit code and words, or once it is ready and has said what is waited for. */
function start(
  change: Record<string, string> = {},
  says = "",
): Promise<{ ready: boolean; code: number | null; said: string }> {
  const folder = fileURLToPath(new URL("../..", import.meta.url));
  const command = ["-c", 'exec "$0" functions/serve.ts 2>&1', process.execPath];
  const started = spawn("/bin/sh", command, { cwd: folder, env: { ...env, ...change } });
  child = started;
  let said = "";
  return new Promise((resolve) => {
    started.stdout.on("data", (part: Buffer) => {
      said += part;
      // The log is written beside the work: its last lines may come after "ready".
      if (/^ready$/m.test(said) && said.includes(says)) resolve({ ready: true, code: null, said });
    });
    started.once("close", (code) => resolve({ ready: false, code, said }));
  });
}

function ask(port: number, path: string, options: RequestOptions = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, agent: false, rejectUnauthorized: false, ...options });
    asked.on("error", reject);
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.end();
  });
}

const clientOf = (authority: LabAuthority) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  return {
    cert: authority.issue({ commonName: "someone", use: "client" }, spki),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
};

beforeAll(async () => {
  peers = await startPeers();
  const file = (name: string, text: string) => {
    writeFileSync(join(peers.folder, name), text);
    return join(peers.folder, name);
  };
  mkdirSync(join(peers.folder, "profiles"));
  for (const [name, json] of Object.entries(peers.policy.profiles)) file(`profiles/${name}.json`, JSON.stringify(json));
  const server = new LabAuthority("TLS").serverIdentity();
  ports.push(...(await freePorts(3)));
  const tls = { CERT: file("tls.crt", server.certificate), KEY: file("tls.key", server.key) };
  env = {
    PATH: process.env.PATH ?? "",
    FLEET_NETBOX_URL: peers.netbox.url,
    FLEET_NETBOX_TOKEN_FILE: file("netbox", peers.netbox.token),
    FLEET_TINKERBELL_KUBECONFIG: peers.kubernetes.file,
    FLEET_CLUSTER_KUBECONFIG: peers.kubernetes.file,
    FLEET_WEBHOOK_SECRET_FILE: file("hook", randomBytes(16).toString("hex")),
    FLEET_CLASSES: file("classes.json", JSON.stringify(peers.policy.classes)),
    FLEET_PROFILES: join(peers.folder, "profiles"),
    FLEET_CA_KEY_FILE: file("ca.key", peers.issuer.keyPem),
    FLEET_CA_CHAIN_FILE: file("ca.pem", peers.issuer.chainPem),
    FLEET_TRUST_DOMAIN: "example.org",
    FLEET_TOOLS_IMAGE: "registry.example/tools:1",
    FLEET_DEVICE_URL: "https://enroll.example",
    FLEET_DEVICE_ADDRESS: `127.0.0.1:${ports[0]}`,
    FLEET_ADMIN_ADDRESS: `127.0.0.1:${ports[1]}`,
    FLEET_METRICS_ADDRESS: `127.0.0.1:${ports[2]}`,
    FLEET_DEVICE_TLS_CERT: tls.CERT,
    FLEET_DEVICE_TLS_KEY: tls.KEY,
    FLEET_ADMIN_TLS_CERT: tls.CERT,
    FLEET_ADMIN_TLS_KEY: tls.KEY,
    FLEET_ADMIN_CA: file("admins.pem", admins.pem),
    FLEET_ADMIN_TOKEN_FILE: file("token", TOKEN),
    FLEET_SPIRE_NODES_FILE: join(peers.folder, "spire-nodes.json"),
    FLEET_PASS_INTERVAL_MS: "0",
  };
});
afterAll(async () => {
  child?.kill("SIGKILL");
  await peers?.close();
});

it("refuses to start: every fault of the settings, the device CA as admin CA, bad classes; no secret is said", async () => {
  const settings = await start({ FLEET_SWITCH_PORT: "maybe", FLEET_NETBOX_URL: "no", FLEET_TYPO: TOKEN });
  expect(settings).toMatchObject({ ready: false, code: 1 });
  for (const name of ["FLEET_SWITCH_PORT", "FLEET_NETBOX_URL", "FLEET_TYPO"]) expect(settings.said).toContain(name);
  expect(settings.said).not.toContain(TOKEN);
  const admin = await start({ FLEET_ADMIN_CA: env.FLEET_CA_CHAIN_FILE ?? "" });
  expect(admin).toMatchObject({ ready: false, code: 1, said: expect.stringContaining("FLEET_ADMIN_CA") });
  writeFileSync(join(peers.folder, "bad.json"), '{"worker":{}}');
  const classes = await start({ FLEET_CLASSES: join(peers.folder, "bad.json") });
  expect(classes).toMatchObject({ ready: false, code: 1, said: expect.stringContaining("FLEET_CLASSES") });
});

it("the issuer at the start: a broken bundle and an older issuer as admin CA are refused, an absent key is told", async () => {
  const good = new LabAuthority("Older issuer").pem;
  writeFileSync(join(peers.folder, "older.pem"), `${good}${good.replace(/^M.{20}/m, "AAAA")}`);
  const FLEET_CA_BUNDLE_FILE = join(peers.folder, "older.pem");
  const broken = await start({ FLEET_CA_BUNDLE_FILE });
  expect(broken).toMatchObject({ ready: false, code: 1, said: expect.stringContaining("certificate 2 is broken") });
  writeFileSync(FLEET_CA_BUNDLE_FILE, admins.pem);
  const older = await start({ FLEET_CA_BUNDLE_FILE });
  expect(older).toMatchObject({ ready: false, code: 1, said: expect.stringContaining("every LDevID would be") });
  const { FLEET_CA_KEY_FILE: _, ...keyless } = env;
  const kept = env;
  env = { ...keyless, FLEET_CA_SIGNER: "command", FLEET_CA_COMMAND: '["sh", "-c", "echo no token >&2; exit 4"]' };
  const away = await start({}, "no certificates can be issued");
  env = kept;
  expect(away).toMatchObject({
    ready: true,
    said: expect.stringContaining("the command ended by 4: 9 bytes on stderr"),
  });
  expect(away.said).toMatch(/"key":"command sh","msg":"no certificates can be issued until the signer answers/);
  const exited = new Promise((resolve) => child?.once("exit", resolve));
  child?.kill("SIGTERM");
  expect(await exited).toBe(0);
});

it("the issuer's key at the start: what a person must mend stops it, with the place", async () => {
  const { FLEET_CA_KEY_FILE: _, ...keyless } = env;
  const kept = env;
  const pin = join(peers.folder, "pin");
  writeFileSync(pin, "1234");
  const refused: [string, RegExp][] = [
    ['["/nowhere/sign"]', /the issuer of \S+ca\.pem \(command \/nowhere\/sign\): .*cannot be started: ENOENT/],
    [
      '["sh", "-c", "echo CKR_PIN_INCORRECT >&2; exit 1"]',
      /\(command sh\): .*the command ended by 1: CKR_PIN_INCORRECT/,
    ],
    ['["echo", "AAAA"]', /\(command echo\): .*is not one of the issuer's key/],
  ];
  for (const [FLEET_CA_COMMAND, words] of refused) {
    env = { ...keyless, FLEET_CA_SIGNER: "command", FLEET_CA_COMMAND, FLEET_CA_PIN_FILE: pin };
    expect(await start()).toMatchObject({ ready: false, code: 1, said: expect.stringMatching(words) });
  }
  env = kept;
});

it("warns at the start of loose files and one-sided profiles, and says which issuer signs", async () => {
  const loose = join(peers.folder, "loose");
  writeFileSync(loose, TOKEN, { mode: 0o644 });
  chmodSync(loose, 0o644);
  for (const [name, path] of Object.entries(env))
    if (name.endsWith("_FILE") && existsSync(path)) chmodSync(path, 0o600);
  const { ready, said } = await start({ FLEET_ADMIN_TOKEN_FILE: loose }, "certificates are issued by");
  child?.kill("SIGKILL");
  expect(ready).toBe(true);
  expect(said).toContain(`FLEET_ADMIN_TOKEN_FILE: ${loose} has mode 0644: everybody on this machine may use it`);
  expect(said).not.toContain("FLEET_CA_KEY_FILE: ");
  expect(said).toContain("strict.json has no authority for os: no machine passes there by it");
  expect(said).not.toContain("marked.json has no");
  expect(said).toMatch(
    /"subject":"CN=[^"]+","notAfter":"20[^"]+","algorithm":"ecdsa-sha256","key":"key file \S+ca\.key","msg":"certificates are issued by"/,
  );
  expect(said).not.toContain(TOKEN);
});

it("takes no arguments: usage, and 64 for a wrong one", () => {
  const run = (argument: string) => spawnSync(process.execPath, ["functions/serve.ts", argument], { encoding: "utf8" });
  expect(run("--help")).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^usage: npm run -s serve/),
    stderr: "",
  });
  expect(run("--hlep")).toMatchObject({ status: 64, stdout: "", stderr: expect.stringMatching(/^usage: /) });
});

it("serves its three listeners, knows its administrators, keeps codes out of its log, ends on SIGTERM", async () => {
  const [device = 0, admin = 0, metrics = 0] = ports;
  expect((await start()).ready).toBe(true);
  let log = "";
  child?.stdout?.on("data", (part: Buffer) => {
    log += part;
  });
  const code = "ABCDEFGHIJKLMNOPQRSTUVWXY2";
  expect((await ask(device, `/talos/config?uuid=x&code=${code}`)).status).toBe(404);
  expect((await ask(device, "/devices")).status).toBe(404);
  expect((await ask(admin, "/devices")).status).toBe(401);
  expect((await ask(admin, "/devices", { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
  expect((await ask(admin, "/devices", clientOf(admins))).status).toBe(200);
  expect((await ask(admin, "/devices", clientOf(new LabAuthority("Admins")))).status).toBe(401);
  const deviceCa = new LabAuthority("Lab device CA");
  expect((await ask(admin, "/devices", clientOf(deviceCa))).status).toBe(401);
  const health = await fetch(`http://127.0.0.1:${metrics}/healthz`);
  expect([health.status, await health.text()]).toEqual([200, "ok\n"]);
  expect((await fetch(`http://127.0.0.1:${metrics}/readyz`)).status).toBe(200);
  await expect.poll(() => log).toContain('"path":"/talos/config"');
  for (const secret of [code, TOKEN, peers.netbox.token]) expect(log).not.toContain(secret);
  const exited = new Promise((resolve) => child?.once("exit", resolve));
  child?.kill("SIGTERM");
  expect(await exited).toBe(0);
});
