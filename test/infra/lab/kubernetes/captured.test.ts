import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientError, LabClient } from "../../../../infra/lab/kubernetes/client.ts";
import { at, type JsonObject, objectOf, textAt } from "../../../../infra/lab/kubernetes/json.ts";
import { type LabKubernetes, startLabKubernetes } from "../../../../infra/lab/kubernetes/server.ts";

interface Captured {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly contentType?: string;
    readonly body?: JsonObject;
  };
  readonly status: number;
  readonly body: JsonObject;
}

const captured = (file: string): Captured =>
  // The token's time has passed; one Node has another name.
  JSON.parse(
    readFileSync(`test/vectors/kubernetes/${file}.json`, "utf8").replaceAll("2026-11-29T19:51", "2999-11-29T19:51"),
  );
// A real server's words name UIDs of its own.
const SUCCESS = 200;
const outcome = (status: number, body: JsonObject) => [status < 300 ? SUCCESS : status, at(body, "reason")];
const plain = (text: string) => text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>");

let server: LabKubernetes;
const clients: Record<string, LabClient> = {};

beforeAll(async () => {
  server = await startLabKubernetes({
    kinds: "cluster",
    tokens: [
      { token: "admin", user: "admin", groups: ["system:masters"] },
      { token: "node", user: "system:node:w1", groups: ["system:nodes"] },
    ],
  });
  const tokens = {
    admin: "admin",
    node: "node",
    token: "f1eed1.0123456789abcdef",
    "bad-token": "f1eed1.wrongwrongwrong0",
  };
  for (const [name, token] of Object.entries(tokens)) {
    clients[name] = new LabClient({ url: server.url, caPem: server.caPem, token });
  }
});
afterAll(async () => {
  for (const client of Object.values(clients)) client.close();
  await server.close();
});

const as = (name: string): LabClient => {
  const client = clients[name];
  if (client === undefined) throw new Error(`no client ${name}`);
  return client;
};

/** Sends a captured request; `fresh` puts the live object's UID and resourceVersion into its body. */
async function replay(file: string, who: string, fresh: boolean): Promise<{ status: number; body: JsonObject }> {
  const { method, path, body, contentType } = captured(file).request;
  const live = fresh ? await as("admin").get(path.replace(/\/(approval|status)$/, "")) : null;
  const sent = live === null ? body : { ...body, metadata: { ...objectOf(at(body, "metadata")), ...live.metadata } };
  try {
    return { status: SUCCESS, body: await as(who).call(method, path, sent, contentType) };
  } catch (error) {
    if (error instanceof ClientError) return { status: error.status, body: error.body };
    throw error;
  }
}

describe("the lab's API answers as the real one did, in this order", () => {
  it.each([
    ["token-create", "admin", false],
    ["token-create-again", "admin", false],
    ["token-immutable-type", "admin", false],
    ["whoami-token", "token", false],
    ["whoami-bad-token", "bad-token", false],
    ["csr-other-name-create", "token", false],
    ["csr-bad-usage-create", "token", false],
    ["csr-spoof-username", "token", false],
    ["csr-spec-immutable", "admin", false],
    ["csr-other-name-deny", "admin", true],
    ["approve-after-deny", "admin", true],
    ["list-bad-continue", "admin", false],
    ["node-create-self", "node", false],
    ["node-create-other", "node", false],
    ["cordon", "admin", false],
    ["cordon-again", "admin", false],
    ["cordon-missing", "admin", false],
    ["cordon-stale-rv", "admin", false],
    ["patch-wrong-uid", "admin", false],
    ["node-self-uncordon", "node", false],
    ["node-self-uncordon-after", "node", false],
    ["node-delete-self-by-node", "node", false],
    ["node-delete-wrong-uid", "admin", false],
    ["pod-create-a", "admin", false],
    ["pod-create-b", "admin", false],
    ["pod-create-free", "admin", false],
    ["pod-create-two", "admin", false],
    ["pod-ready-a", "admin", false],
    ["pod-ready-b", "admin", false],
    ["pod-ready-free", "admin", false],
    ["pod-ready-two", "admin", false],
    ["evict-404", "admin", false],
    ["evict-wrong-uid", "admin", false],
    ["evict-name-mismatch", "admin", false],
    ["evict-ok", "admin", false],
    ["pdb-two1", "admin", false],
    ["pdb-two2", "admin", false],
    ["evict-500-two-pdbs", "admin", false],
    ["node-delete", "admin", false],
    ["node-delete-again", "admin", false],
    ["create-generate-name", "admin", false],
    ["apply-create", "admin", false],
    ["apply-force", "admin", false],
    ["token-delete", "admin", false],
    ["token-delete-again", "admin", false],
    ["whoami-deleted-token", "token", false],
  ])("%s as %s", async (file, who, fresh) => {
    const real = captured(file);
    const lab = await replay(file, who, fresh);
    expect(outcome(lab.status, lab.body)).toEqual(outcome(real.status, real.body));
    const words = (body: JsonObject) => plain(textAt(body, "message")).split(": invalid character")[0];
    expect(words(lab.body)).toBe(words(real.body));
  });
});

describe("an approval on the lab's API", () => {
  const name = "node-csr-TbgN43VvQxzjuKgJfxn5D6TYmagIxUCnqYezo5szQ-8";
  const csrs = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

  it("goes as it went on the real one", async () => {
    await as("admin").call("POST", "/api/v1/namespaces/kube-system/secrets", captured("token-create").request.body);
    const { spec } = captured("csr-pending").body;
    await as("token").call("POST", csrs, { metadata: { name }, spec });
    const made = await as("admin").get(`${csrs}/${name}`);
    expect(made?.spec).toEqual(spec);
    for (const [file, who, fresh] of [
      ["approve-via-status-ignored", "admin", true],
      ["approve-stale-resourceversion", "admin", false],
      ["csr-token-cannot-approve", "token", true],
      ["approve", "admin", true],
    ] as const) {
      const lab = await replay(file, who, fresh);
      const real = captured(file);
      expect([file, ...outcome(lab.status, lab.body)]).toEqual([file, ...outcome(real.status, real.body)]);
    }
    const issued = async () => textAt(await as("admin").get(`${csrs}/${name}`), "status", "certificate");
    await expect.poll(issued, { timeout: 5_000 }).toMatch(/^LS0t/);
    for (const file of ["approve-again-same", "deny-after-approve", "remove-approval"]) {
      const lab = await replay(file, "admin", true);
      const real = captured(file);
      expect([file, lab.status, textAt(lab.body, "message")]).toEqual([
        file,
        real.status,
        textAt(real.body, "message"),
      ]);
    }
    expect(await issued()).toMatch(/^LS0t/);
  });
});

describe("a budget on the lab's API", () => {
  it("blocks with the real one's words, before and after it is observed", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    for (const name of ["a", "b"]) {
      for (const file of [`pod-create-${name}`, `pod-ready-${name}`]) {
        const { method, path, body, contentType } = captured(file).request;
        if (method !== "POST" || (await as("admin").get(`${pods}/${name}`)) === null) {
          await as("admin").call(method, path, body, contentType);
        }
      }
      const spec = { minAvailable: 1, selector: { matchLabels: { app: name } } };
      await as("admin").call("POST", budgets, { metadata: { name }, spec });
    }
    const unseen = await replay("evict-pdb-not-observed", "admin", false);
    expect(unseen.body).toEqual(captured("evict-pdb-not-observed").body);
    const status = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 };
    await as("admin").call("PATCH", `${budgets}/a/status`, { status });
    expect((await replay("evict-429", "admin", false)).body).toEqual(captured("evict-429").body);
  });
});
