import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { run, textFile } from "./cli.ts";

const SECRET = "a-bearer-token-of-more-than-thirty-two-bytes";

function environment(): Record<string, string> {
  const any = textFile("{}", "any.json");
  const token = textFile(SECRET, "token");
  return {
    FLEET_NETBOX_URL: "https://netbox.example",
    FLEET_NETBOX_TOKEN_FILE: token,
    FLEET_TINKERBELL_KUBECONFIG: any,
    FLEET_CLUSTER_KUBECONFIG: any,
    FLEET_REDIS_URL: "redis://fleetd:hunter2@127.0.0.1:6379/0",
    FLEET_SESSION_KEY_FILE: token,
    FLEET_WEBHOOK_SECRET_FILE: token,
    FLEET_CLASSES: any,
    FLEET_PROFILES: any,
    FLEET_CA_KEY_FILE: any,
    FLEET_CA_CHAIN_FILE: any,
    FLEET_TRUST_DOMAIN: "example.org",
    FLEET_TOOLS_IMAGE: "registry.example/tools:1",
    FLEET_DEVICE_URL: "https://enroll.example",
    FLEET_ADMIN_TOKEN_FILE: token,
    FLEET_SPIRE_NODES_FILE: "/tmp/nodes.json",
    FLEET_DRAIN_MS: "6000",
  };
}
const row = (out: string, name: string) => out.split("\n").find((line) => line.startsWith(`${name} `));

describe("fleetctl config", () => {
  test("what is set, what is a default, what is not set; no secret", async () => {
    const { code, out, err } = await run(["config"], environment());
    expect([code, err]).toEqual([0, ""]);
    expect(row(out, "FLEET_NETBOX_ROLE")).toMatch(/ default +fleet-node$/);
    expect(row(out, "FLEET_TRUST_DOMAIN")).toMatch(/ environment +example\.org$/);
    expect(row(out, "FLEET_EK_PINS")).toMatch(/ default +\(not set\)$/);
    expect(row(out, "FLEET_DRAIN_MS")).toMatch(/ environment +6000$/);
    expect(row(out, "FLEET_CONFIG_MS")).toMatch(/ default +86400000$/);
    expect(row(out, "FLEET_ADMIN_TOKEN_FILE")).toMatch(/\/token \(secret, not shown\)$/);
    expect(row(out, "FLEET_REDIS_URL")).toMatch(/ redis:\/\/\*\*\*@127\.0\.0\.1:6379\/0$/);
    for (const secret of [SECRET, "hunter2"]) expect(out).not.toContain(secret);
  });

  test("from a file in the environment's place, as JSON", async () => {
    const file = Object.entries(environment()).map(([name, value]) => `${name}='${value}'`);
    const { code, out } = await run(["config", "--json", "--from", textFile(file.join("\n"), "fleetd.env")], {
      FLEET_MAX_DISK_RUNS: "7",
    });
    expect(code).toBe(0);
    const { settings, faults } = JSON.parse(out);
    expect(faults).toEqual([]);
    expect(settings).toContainEqual({ name: "FLEET_MAX_DISK_RUNS", value: "5", from: "default", secret: false });
    expect(out).not.toContain(SECRET);
  });

  test("faults are told as fleetd tells them, and no secret with them", async () => {
    const { FLEET_TRUST_DOMAIN: _, ...less } = environment();
    const { code, out, err } = await run(["config"], { ...less, FLEET_MAX_DISK_RUNS: "many", FLEET_NO_SUCH: "x" });
    expect(code).toBe(1);
    expect(row(out, "FLEET_MAX_DISK_RUNS")).toMatch(/ environment +many$/);
    expect(err).toContain("fleetctl config: FLEET_TRUST_DOMAIN: is missing");
    expect(err).toContain("fleetctl config: FLEET_MAX_DISK_RUNS: is not a whole number");
    expect(err).toContain("fleetctl config: FLEET_NO_SUCH: is no setting");
    expect(`${out}${err}`).not.toContain(SECRET);
  });

  test("as a process: Node takes no option of it for its own", () => {
    const main = new URL("../../../infra/fleetctl/main.ts", import.meta.url).pathname;
    const { status, stderr } = spawnSync(process.execPath, [main, "config", "--from", "/no/such"], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([2, "fleetctl config: /no/such: no such file\n"]);
  });

  test("no such file, a wrong call", async () => {
    const none = await run(["config", "--from", "/no/such"]);
    expect([none.code, none.err]).toEqual([2, "fleetctl config: /no/such: no such file"]);
    expect((await run(["config", "x"])).code).toBe(64);
  });
});
