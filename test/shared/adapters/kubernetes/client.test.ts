import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LabAuthority } from "../../../../infra/lab/kubernetes/authority.ts";
import { writeKubeconfig } from "../../../../infra/lab/kubernetes/kubeconfig.ts";
import { createClient, type KubernetesClient } from "../../../../shared/adapters/kubernetes/client.ts";
import { answered } from "./captured.ts";

const directory = mkdtempSync(join(tmpdir(), "fleetd-client-"));
const authority = new LabAuthority("test-ca");
const identity = authority.serverIdentity();
const seen: { method: string; url: string; type: string; body: string; authorization: string }[] = [];
let connections = 0;
let next: { status: number; text: string } = { status: 200, text: "{}" };

const server = createServer({ cert: identity.certificate, key: identity.key }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method = "", url = "", headers } = request;
    const { "content-type": type = "", authorization = "" } = headers;
    seen.push({ method, url, type, body: Buffer.concat(chunks).toString(), authorization });
    if (next.status === 0) return;
    response.writeHead(next.status, { "content-type": "application/json" }).end(next.text);
  });
});
server.on("secureConnection", () => {
  connections += 1;
});
let client: KubernetesClient;
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfigFile = join(directory, "kubeconfig");
  writeKubeconfig(kubeconfigFile, url, "sesame", "ns", authority.pem);
  client = createClient("boot-plane", { kubeconfigFile, timeoutMs: 500 });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

describe("createClient", () => {
  it("keeps its connection over many calls", async () => {
    next = { status: 200, text: '{"kind":"X"}' };
    for (let index = 0; index < 40; index += 1) expect(await client.call("GET", "/version")).toEqual({ kind: "X" });
    expect(connections).toBeLessThanOrEqual(2);
  });

  it("sends its token, merge patches as such, and strict validation with every write", async () => {
    seen.length = 0;
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const) {
      await client.call(method, "/p", method === "GET" ? {} : { body: { a: 1 } });
    }
    expect(seen.map(({ method, url, type }) => [method, url, type])).toEqual([
      ["GET", "/p", ""],
      ["POST", "/p?fieldValidation=Strict", "application/json"],
      ["PUT", "/p?fieldValidation=Strict", "application/json"],
      ["PATCH", "/p?fieldValidation=Strict", "application/merge-patch+json"],
      ["DELETE", "/p", "application/json"],
    ]);
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer sesame"]));
  });

  it.each([
    [400, "rejected"],
    [401, "rejected"],
    [403, "rejected"],
    [404, "not-found"],
    [408, "unavailable"],
    [409, "conflict"],
    [410, "unavailable"],
    [415, "rejected"],
    [422, "rejected"],
    [429, "unavailable"],
    [500, "unavailable"],
    [503, "unavailable"],
  ])("%i is %s", async (status, kind) => {
    next = { status, text: "{}" };
    await expect(client.call("GET", "/p")).rejects.toMatchObject({ kind, port: "boot-plane" });
  });

  it.each([
    ["approve-stale-resourceversion", "conflict"],
    ["node-delete-again", "not-found"],
    ["token-create-again", "conflict"],
    ["csr-bad-pem-create", "rejected"],
    ["patch-wrong-uid", "conflict"],
    ["evict-429", "unavailable"],
  ])("%s of the real server is %s in its words", async (file, kind) => {
    const { status, body } = answered(file);
    next = { status, text: JSON.stringify(body) };
    const error = await client.call("POST", "/p").catch((thrown) => thrown);
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(String(body.message).slice(0, 60));
  });

  it("leaves the server's words out where a secret was sent", async () => {
    next = { status: 422, text: JSON.stringify({ reason: "Invalid", message: "bad value: hunter2" }) };
    const error = await client.call("POST", "/p", { body: { s: "hunter2" }, quiet: true }).catch((thrown) => thrown);
    expect(error.message).toBe("boot-plane rejected: POST /p: 422 Invalid");
  });

  it("is unavailable for an answer that is no JSON, for none in time, and for none at all", async () => {
    next = { status: 200, text: "<html>" };
    await expect(client.call("GET", "/p")).rejects.toThrow("boot-plane unavailable: GET /p: 200, not JSON");
    next = { status: 0, text: "" };
    await expect(client.call("GET", "/p")).rejects.toThrow("boot-plane unavailable: GET /p: timeout");
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const kubeconfigFile = join(directory, "nobody");
    writeKubeconfig(kubeconfigFile, `https://127.0.0.1:${port}`, "t", "ns", authority.pem);
    const nobody = createClient("records", { kubeconfigFile, timeoutMs: 500 });
    await expect(nobody.call("GET", "/p")).rejects.toThrow("records unavailable: GET /p: ECONNREFUSED");
  });

  it("trusts the kubeconfig's authority alone", async () => {
    const kubeconfigFile = join(directory, "stranger");
    writeKubeconfig(kubeconfigFile, url, "t", "ns", new LabAuthority("test-ca").pem);
    const stranger = createClient("records", { kubeconfigFile, timeoutMs: 500 });
    await expect(stranger.call("GET", "/p")).rejects.toMatchObject({ kind: "unavailable" });
  });

  it("reads its kubeconfig at the first call, and again after a failure", async () => {
    const kubeconfigFile = join(directory, "later");
    const late = createClient("records", { kubeconfigFile, timeoutMs: 500 });
    await expect(late.call("GET", "/p")).rejects.toThrow("records unavailable: kubeconfig: ENOENT");
    writeKubeconfig(kubeconfigFile, url, "t", "ns", authority.pem);
    next = { status: 200, text: '{"kind":"X"}' };
    expect(await late.call("GET", "/p")).toEqual({ kind: "X" });
  });

  it("loads the package with the first call, not with the adapter", () => {
    const script = join(directory, "cold.mjs");
    writeFileSync(
      script,
      `import { registerHooks } from "node:module";
       const seen = [];
       registerHooks({ resolve(specifier, context, next) { seen.push(specifier); return next(specifier, context); } });
       for (const file of ["tinkerbell-boot-plane", "records", "workload-cluster"])
         await import(\`${process.cwd()}/shared/adapters/kubernetes/\${file}.ts\`);
       console.log(seen.length > 10, seen.some((name) => name.includes("client-node")));`,
    );
    expect(spawnSync(process.execPath, [script]).stdout.toString()).toBe("true false\n");
  });
});
