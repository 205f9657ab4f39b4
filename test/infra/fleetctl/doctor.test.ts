import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LabAuthority } from "../../../infra/lab/kubernetes/authority.ts";
import { startLabNetBox } from "../../../infra/lab/netbox/lab-netbox.ts";
import { type Lab, startLab } from "../../../infra/lab/world/lab.ts";
import { findRedisServer, startRedisServer } from "../../contracts/redis-server.ts";
import { run } from "./cli.ts";

interface Told {
  readonly name: string;
  readonly result: string;
  readonly text: string;
  readonly todo: string | null;
}

describe("fleetctl doctor", () => {
  const state = mkdtempSync(join(tmpdir(), "fleetctl-doctor-"));
  let lab: Lab;
  let env: Record<string, string>;
  const servers: Server[] = [];

  beforeAll(async () => {
    lab = await startLab({ state, classes: "infra/lab/defaults/classes.json", profiles: null, passEveryMs: 0 });
    env = parseEnv(readFileSync(lab.paths.envFile, "utf8")) as Record<string, string>;
  }, 120_000);
  afterAll(async () => {
    for (const server of servers) server.close();
    await lab.stop();
    rmSync(state, { recursive: true, force: true });
  });

  const look = async (change: Record<string, string> = {}) => {
    const { code, out } = await run(["doctor", "--json"], { ...env, ...change });
    const { checks } = JSON.parse(out) as { checks: Told[] };
    const faults = checks.filter((one) => one.result !== "ok" && one.text !== "its chain ends at no public root");
    return { code, checks, faults: faults.map(({ name, result, text }) => `${result}: ${name}: ${text}`) };
  };
  const netbox = async (status: number, body: unknown, headers: Record<string, string>) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { FLEET_NETBOX_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };

  test("of a fleet in order: a line for each, no failure; a private chain is worth a warning", async () => {
    const { code, checks, faults } = await look();
    expect([code, faults]).toEqual([0, []]);
    expect([...new Set(checks.map((one) => one.name))]).toEqual(
      expect.arrayContaining(
        [
          "settings",
          "netbox version",
          "netbox account",
          "netbox rights",
          "netbox fields",
          "netbox role",
          "netbox clock",
        ].concat(
          ["tinkerbell rights", "tinkerbell certificate", "cluster rights", "cluster approvals", "cluster bootstrap"],
          ["redis", "device certificate", "admin certificate", "issuer key"],
          ["policy files", "templates", "spire list"],
        ),
      ),
    );
    const { out } = await run(["doctor", "--from", lab.paths.envFile]);
    expect(out).toMatch(/^ok {7}settings +all are there, and each can be read\n/);
    expect(out).toMatch(
      /\nwarning {2}device certificate +its chain ends at no public root\n {9}do: Talos trusts public roots alone/,
    );
  });

  test("settings that are wrong are each told, and an unreadable file", async () => {
    const { code, out } = await run(["doctor", "--json"], {
      ...env,
      FLEET_MAX_DISK_RUNS: "many",
      FLEET_NETBOX_URL: "x",
    });
    const { checks } = JSON.parse(out) as { checks: Told[] };
    expect([code, checks.map((one) => one.text)]).toEqual([
      1,
      [expect.stringMatching(/^FLEET_NETBOX_URL: /), expect.stringMatching(/^FLEET_MAX_DISK_RUNS: /)],
    ]);
    expect((await run(["doctor", "--from", "/nowhere"])).code).toBe(2);
    expect((await run(["doctor", "now"])).code).toBe(64);
  });

  test("peers that are not there fail, each alone", async () => {
    const kubeconfig = join(state, "gone.kubeconfig");
    const cluster = JSON.parse(readFileSync(lab.paths.kubeconfig.cluster, "utf8"));
    cluster.clusters[0].cluster.server = "https://127.0.0.1:1";
    writeFileSync(kubeconfig, JSON.stringify(cluster));
    const { code, faults } = await look({
      FLEET_NETBOX_URL: "http://127.0.0.1:1",
      FLEET_CLUSTER_KUBECONFIG: kubeconfig,
      FLEET_REDIS_URL: "redis://127.0.0.1:1",
    });
    expect([code, faults]).toEqual([
      1,
      [
        expect.stringMatching(/^failed: netbox: .*ECONNREFUSED/),
        expect.stringMatching(/^failed: cluster: .*ECONNREFUSED/),
        expect.stringMatching(/^failed: redis: /),
      ],
    ]);
  });

  test("another's token, an account without rights, a NetBox that is not set up", async () => {
    expect((await look({ FLEET_NETBOX_USER: "somebody" })).faults).toEqual([
      "failed: netbox account: the token is fleetd's",
    ]);
    const token = join(state, "owner-token");
    writeFileSync(token, readFileSync(join(state, "secrets", "netbox-owner.token")));
    expect((await look({ FLEET_NETBOX_TOKEN_FILE: token })).faults).toEqual([
      "failed: netbox account: the token is owner's",
      "warning: netbox rights: the account sees NetBox's users: it has more rights than fleetd needs",
    ]);
    const tokens = [{ token: readFileSync(token, "utf8").trim(), user: "fleetd", write: false }];
    const bare = await startLabNetBox({ tokens, bare: true });
    try {
      const { faults } = await look({ FLEET_NETBOX_URL: bare.url, FLEET_NETBOX_TOKEN_FILE: token });
      expect(faults).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^failed: netbox rights: may not change dcim\.device \(reads its role's devices;/),
          expect.stringMatching(/^failed: netbox rights: may not add extras\.journalentry/),
          "failed: netbox fields: there is no custom field approved_eks of dcim.device",
          "failed: netbox role: there is no device role fleet-node",
        ]),
      );
    } finally {
      await bare.close();
    }
  });

  test("a clock that is wrong", async () => {
    const change = await netbox(403, { detail: "no" }, { date: new Date(Date.now() - 120_000).toUTCString() });
    expect((await look(change)).faults[0]).toMatch(/^failed: netbox clock: (119|120|121) s behind this machine's$/);
    const little = await netbox(403, { detail: "no" }, { date: new Date(Date.now() + 10_000).toUTCString() });
    expect((await look(little)).faults[0]).toMatch(/^warning: netbox clock: \d+ s ahead of this machine's$/);
  });

  test("an account of Kubernetes that may too little, or everything", async () => {
    const admin = join(state, "secrets", "cluster-admin.kubeconfig");
    expect((await look({ FLEET_CLUSTER_KUBECONFIG: admin })).faults).toEqual([
      "warning: cluster rights: the account may do everything",
    ]);
    const { faults } = await look({ FLEET_TINKERBELL_NAMESPACE: "elsewhere" });
    expect(faults).toHaveLength(26);
    expect(faults).toContain("failed: tinkerbell rights: may not patch workflows.tinkerbell.org in elsewhere");
  });

  test("others who approve", async () => {
    await lab.cluster.call("POST", "/lab/faults", { othersApprove: true });
    const { code, faults } = await look();
    await lab.cluster.call("POST", "/lab/faults", { othersApprove: false });
    expect([code, faults]).toEqual([
      1,
      [expect.stringMatching(/^failed: cluster approvals: the controller manager approves/)],
    ]);
  });

  const redis = findRedisServer();
  if (redis !== null)
    test("a Redis that writes to a disk, unless that is accepted", async () => {
      const server = await startRedisServer(redis, ["--appendonly", "yes"]);
      try {
        const change = { FLEET_REDIS_URL: server.url };
        expect(await look(change)).toMatchObject({ code: 1, faults: ["failed: redis persistence: on"] });
        const accepted = await look({ ...change, FLEET_REDIS_PERSISTENCE: "accept" });
        expect(accepted).toMatchObject({ code: 0, faults: ["warning: redis persistence: on"] });
      } finally {
        server.stop();
      }
    });

  test("a certificate for another name, another's key, a chain in the wrong order, an issuer that does not fit its key", async () => {
    expect((await look({ FLEET_DEVICE_URL: "https://elsewhere.example" })).faults).toEqual([
      "failed: device certificate: is not for elsewhere.example, the host of FLEET_DEVICE_URL",
    ]);
    const cert = readFileSync(env.FLEET_DEVICE_TLS_CERT ?? "", "utf8");
    const wrong = join(state, "wrong.pem");
    writeFileSync(wrong, `${cert}\n${readFileSync(env.FLEET_CA_CHAIN_FILE ?? "", "utf8")}`);
    const { faults } = await look({ FLEET_DEVICE_TLS_CERT: wrong, FLEET_DEVICE_TLS_KEY: env.FLEET_CA_KEY_FILE ?? "" });
    expect(faults).toEqual(
      expect.arrayContaining([
        `failed: device certificate: ${env.FLEET_CA_KEY_FILE} is not its key`,
        expect.stringMatching(
          /^failed: device certificate: certificate \d of .*wrong\.pem did not issue certificate \d$/,
        ),
      ]),
    );
    const key = { FLEET_CA_KEY_FILE: env.FLEET_DEVICE_TLS_KEY ?? "" };
    expect((await look(key)).faults).toEqual([expect.stringMatching(/^failed: issuer key: /)]);
  });

  test("certificates of another time: not valid yet, an issuer of the chain that is over, a CA file that is empty", async () => {
    const files = (atMs: number, chainAtMs = atMs) => {
      let nowMs = chainAtMs;
      const authority = new LabAuthority("of another time", () => nowMs);
      nowMs = atMs;
      const { certificate, key } = authority.serverIdentity();
      const [cert, keyFile] = [join(state, `${atMs}.pem`), join(state, `${atMs}.key`)];
      writeFileSync(cert, chainAtMs === atMs ? certificate : `${certificate}\n${authority.pem}`);
      writeFileSync(keyFile, key);
      return { FLEET_ADMIN_TLS_CERT: cert, FLEET_ADMIN_TLS_KEY: keyFile };
    };
    const dayMs = 86_400_000;
    expect((await look(files(Date.now() + 30 * dayMs))).faults).toEqual([
      expect.stringMatching(/^failed: admin certificate: not valid before 20/),
    ]);
    expect((await look(files(Date.now() - 1000, Date.now() - 400 * dayMs))).faults).toEqual([
      expect.stringMatching(/^failed: admin certificate \(2 of its chain\): expired on 20/),
    ]);
    const empty = join(state, "empty.pem");
    writeFileSync(empty, "");
    expect((await look({ FLEET_ADMIN_CA: empty })).faults).toEqual([`failed: admin CA: ${empty} holds no certificate`]);
  });

  test("a kubeconfig whose own certificate is over, one that looks at no server's, one that trusts another CA", async () => {
    const changed = (change: (config: Kubeconfig) => void) => {
      const config = JSON.parse(readFileSync(lab.paths.kubeconfig.cluster, "utf8")) as Kubeconfig;
      change(config);
      const path = join(state, "changed.kubeconfig");
      writeFileSync(path, JSON.stringify(config));
      return { FLEET_CLUSTER_KUBECONFIG: path };
    };
    const old = new LabAuthority("old", () => Date.now() - 360 * 86_400_000);
    const expiring = changed(({ users: [user] }) => {
      if (user !== undefined)
        user.user["client-certificate-data"] = Buffer.from(old.serverIdentity().certificate).toString("base64");
    });
    expect((await look(expiring)).faults[0]).toMatch(/^warning: cluster client certificate: expires in [45] days/);
    const insecure = changed(({ clusters: [cluster] }) => {
      delete cluster?.cluster["certificate-authority-data"];
      if (cluster !== undefined) cluster.cluster["insecure-skip-tls-verify"] = true;
    });
    expect(await look(insecure)).toMatchObject({
      code: 0,
      faults: ["warning: cluster certificate: is not checked: insecure-skip-tls-verify"],
    });
    const stranger = changed(({ clusters: [cluster] }) => {
      if (cluster !== undefined)
        cluster.cluster["certificate-authority-data"] = Buffer.from(old.pem).toString("base64");
    });
    expect((await look(stranger)).faults).toEqual([
      expect.stringMatching(/^failed: cluster certificate: not accepted/),
    ]);
    const none = join(state, "empty.kubeconfig");
    writeFileSync(none, "");
    expect((await look({ FLEET_CLUSTER_KUBECONFIG: none })).faults).toEqual([
      `failed: cluster: ${none} is no kubeconfig: it is empty, or no object`,
    ]);
  });

  test("what several lines ask for is said once", async () => {
    const { out } = await run(["doctor"], { ...env, FLEET_TINKERBELL_NAMESPACE: "elsewhere" });
    expect(out.match(/do: kubectl apply -f infra.kubernetes.tinkerbell-rbac/g)).toHaveLength(1);
  });

  test("advice is of the cause: a token that NetBox does not take is no old NetBox", async () => {
    const todo = async (status: number, body: unknown) => {
      const { checks } = await look(await netbox(status, body, {}));
      return checks.find((one) => one.name === "netbox version")?.todo;
    };
    expect(await todo(403, { detail: "Invalid v2 token" })).toBe("look at FLEET_NETBOX_TOKEN_FILE");
    expect(await todo(200, { "netbox-version": "4.5.1" })).toBe("update NetBox to 4.6 or later");
    expect(await todo(503, {})).toMatch(/^look whether FLEET_NETBOX_URL names NetBox/);
  });
});

interface Kubeconfig {
  readonly clusters: { cluster: Record<string, unknown> }[];
  readonly users: { user: Record<string, unknown> }[];
}
