import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { labPaths } from "../../infra/lab/world/paths.ts";
import { callAdmin } from "../../infra/lab/world/timer.ts";

const state = mkdtempSync(join(tmpdir(), "fleetd-lab-test-"));
let child: ChildProcess;
let ready = "";

interface LabJson {
  readonly pid: number;
  readonly redis: string;
  readonly admin: { readonly url: string; readonly ca: string; readonly tokenFile: string };
  readonly netbox: { readonly url: string; readonly tokenFile: string; readonly role: string };
  readonly classes: readonly string[];
  readonly firmware: { readonly good: { readonly eventLog: string; readonly commandLine: string } };
  readonly envFile: string;
  readonly pids: Readonly<Record<string, number>>;
}

const lab = (): LabJson => JSON.parse(readFileSync(join(state, "lab.json"), "utf8")) as LabJson;
const alive = (pid: number) => existsSync(`/proc/${pid}`);

beforeAll(async () => {
  child = spawn("npm", ["run", "-s", "lab", "--", "--state", state], { stdio: ["ignore", "pipe", "inherit"] });
  ready = await new Promise<string>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the lab ended with ${code}`)));
    child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString()));
  });
}, 90_000);

afterAll(() => {
  child.kill("SIGKILL");
  rmSync(state, { recursive: true, force: true });
});

describe("npm run -s lab (spec/70)", () => {
  it("prints one line, ready with the path of lab.json", () => {
    expect(ready).toBe(`ready ${join(state, "lab.json")}\n`);
  });

  it("says all that spec/70 names", () => {
    const json = lab() as unknown as Record<string, unknown>;
    for (const key of [
      "pid",
      "redis",
      "tpm",
      "device",
      "admin",
      "metrics",
      "netbox",
      "tinkerbell",
      "cluster",
      "redisUrl",
      "issuerBundle",
      "spireNodes",
      "classes",
      "firmware",
      "evidence",
      "envFile",
      "pids",
    ])
      expect(json, key).toHaveProperty(key);
    expect(lab().classes).toContain("talos-worker");
    for (const pid of Object.values(lab().pids)) expect(alive(pid)).toBe(true);
    expect(lab().firmware.good.commandLine).toContain("fleet_hookos=1");
  });

  it("a device added through NetBox's own API is seen by fleetd, with what it waits for", async () => {
    const { netbox, admin } = lab();
    const token = readFileSync(netbox.tokenFile, "utf8").trim();
    const made = await fetch(`${netbox.url}/api/dcim/devices/`, {
      method: "POST",
      headers: { authorization: `Token ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        name: "n1",
        serial: "N-0001",
        status: "planned",
        role: { slug: netbox.role },
        site: { slug: "lab" },
        device_type: { slug: "mini-800" },
        custom_fields: { fleet_class: "talos-worker" },
      }),
    });
    expect(made.status).toBe(201);
    const adminToken = readFileSync(admin.tokenFile, "utf8").trim();
    await expect
      .poll(
        async () =>
          JSON.parse((await callAdmin(labPaths(state), `${admin.url}/devices/n1`, adminToken)).text).conditions?.[0]
            ?.reason,
        {
          timeout: 10_000,
        },
      )
      .toBe("disk-missing");
  });

  it("the scheduled function makes one pass with the same settings, where the store is shared", async () => {
    const env = Object.fromEntries(
      readFileSync(lab().envFile, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1).replaceAll("'", "")]),
    );
    const run = promisify(execFile)(process.execPath, ["functions/reconcile/index.ts"], {
      env: { PATH: process.env.PATH, ...env },
    });
    if (lab().redis === "redis") expect(JSON.parse((await run).stdout)).toMatchObject({ failed: 0 });
    else await expect(run).rejects.toThrow(/FLEET_REDIS_URL is needed/);
  });

  it("ends all its processes on SIGTERM", async () => {
    const { pid, pids } = lab();
    const gone = new Promise((resolve) => child.once("exit", resolve));
    process.kill(pid, "SIGTERM");
    await gone;
    for (const one of Object.values(pids)) expect(alive(one)).toBe(false);
  });
});
