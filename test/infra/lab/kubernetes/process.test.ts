import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { clientOf } from "../../../../infra/lab/kubernetes/client.ts";
import { startLabKubernetes } from "../../../../infra/lab/kubernetes/server.ts";
import { createRecords } from "../../../../shared/adapters/kubernetes/records.ts";

const directory = mkdtempSync(join(tmpdir(), "fleetd-lab-process-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Starts one of the lab's processes and waits for its `ready` line. */
async function start(script: string, options: unknown): Promise<{ line: string; stop: () => Promise<unknown> }> {
  const file = join(directory, `${script.replaceAll("/", "-")}.json`);
  writeFileSync(file, JSON.stringify(options));
  const child = spawn(process.execPath, [script, file], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  const stop = async () => {
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    return code;
  };
  return { line: String(line), stop };
}

describe("the lab's Kubernetes as a process of its own", () => {
  it("writes kubeconfigs, says that it is ready, and ends on SIGTERM; Tinkerbell beside it", async () => {
    const kubeconfig = join(directory, "fleetd.kubeconfig");
    const api = await start("infra/lab/kubernetes/main.ts", {
      kinds: "tinkerbell",
      tokens: [{ token: "t", user: "fleetd", groups: [] }],
      kubeconfigs: [{ file: kubeconfig, token: "t", namespace: "tinkerbell" }],
    });
    expect(api.line).toMatch(/^ready https:\/\/127\.0\.0\.1:\d+\n$/);
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    const records = createRecords({ kubeconfigFile: kubeconfig, namespace: "tinkerbell", timeoutMs: 5_000 });
    await records.put({ deviceId: 1, name: "n", uuid: null, node: null, open: false, text: "kept" }, null);
    const tink = await start("infra/lab/tink/main.ts", { kubeconfigFile: kubeconfig, bmcUrl: "" });
    expect(tink.line).toMatch(/^ready http:/);
    expect((await records.all()).map(({ text }) => text)).toEqual(["kept"]);
    expect(await tink.stop()).toBe(0);
    expect(await api.stop()).toBe(0);
    await expect(records.all()).rejects.toMatchObject({ kind: "unavailable" });
  });
});

describe("a watch on the lab's API", () => {
  it("sends what is there, then every change once", async () => {
    const server = await startLabKubernetes({
      kinds: "cluster",
      tokens: [{ token: "t", user: "a", groups: ["system:masters"] }],
    });
    const kubeconfig = join(directory, "watch.kubeconfig");
    const { writeKubeconfig } = await import("../../../../infra/lab/kubernetes/kubeconfig.ts");
    writeKubeconfig(kubeconfig, server.url, "t", "default", server.caPem);
    const { client } = clientOf(kubeconfig);
    const path = "/api/v1/namespaces/default/configmaps";
    await client.call("POST", path, { metadata: { name: "a" }, data: { k: "1" } });
    const events: string[] = [];
    const headers = { authorization: "Bearer t" };
    const request = get(`${server.url}${path}?watch=1&timeoutSeconds=30`, { ca: server.caPem, headers }, (response) => {
      response.on("data", (chunk: Buffer) => {
        for (const line of chunk.toString().trim().split("\n")) {
          const { type, object } = JSON.parse(line);
          events.push(`${type} ${object.metadata.name} ${object.data.k}`);
        }
      });
      response.on("error", () => undefined);
    });
    request.on("error", () => undefined);
    await expect.poll(() => events, { timeout: 5_000 }).toEqual(["ADDED a 1"]);
    await client.call("PATCH", `${path}/a`, { data: { k: "2" } });
    await client.call("PATCH", `${path}/a`, { data: { k: "2" } });
    await client.call("DELETE", `${path}/a`);
    await expect.poll(() => events, { timeout: 5_000 }).toEqual(["ADDED a 1", "MODIFIED a 2", "DELETED a 2"]);
    request.destroy();
    client.close();
    await server.close();
  });
});
