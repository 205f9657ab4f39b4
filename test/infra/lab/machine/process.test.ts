import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missingTools } from "../../../../infra/lab/tpm/swtpm.ts";
import { AttestWorld, COMMAND_LINE, MAC, SERIAL, UUID } from "../../hookos/attest-world.ts";

const kinds = process.env.FLEETD_TEST_NO_SWTPM === "1" ? ["software"] : ["software", "swtpm"];
const SPEC = {
  name: "w1",
  serial: SERIAL,
  uuid: UUID,
  mac: MAC,
  disks: [{ device: "/dev/nvme0n1", serial: "S4XYNX0R123456" }],
  switchPort: { chassisMac: "00:11:22:33:44:00", systemName: "sw1", port: "swp7" },
};

let world: AttestWorld;
let child: ChildProcess | null = null;

beforeEach(async () => {
  world = await AttestWorld.start();
});
afterEach(async () => {
  child?.kill("SIGKILL");
  await world.close();
});

/** Command lines of processes that work in a folder. */
function processesIn(folder: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      return /^\d+$/.test(pid) && line.includes(folder) ? [line] : [];
    } catch {
      return [];
    }
  });
}

async function started(options: object, temporary: string): Promise<{ process: ChildProcess; url: string }> {
  const file = join(world.directory, "machines.json");
  writeFileSync(file, JSON.stringify(options));
  mkdirSync(temporary);
  const made = spawn(process.execPath, ["infra/lab/machine/main.ts", file], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TMPDIR: temporary },
  });
  child = made;
  const url = await new Promise<string>((resolve, reject) => {
    made.once("exit", (code) => reject(new Error(`exit ${code}`)));
    createInterface({ input: made.stdout }).on("line", (line) => resolve(/^ready (.*)$/.exec(line)?.[1] ?? ""));
  });
  return { process: made, url };
}

describe("the machines' process", () => {
  test.each(kinds)("attests by %s, and SIGTERM in the middle leaves nothing behind", async (tpm) => {
    if (tpm === "swtpm") expect(missingTools()).toEqual([]);
    const temporary = join(world.directory, "tmp");
    const options = {
      directory: join(world.directory, "machines"),
      deviceUrl: world.url,
      caFile: join(world.directory, "ca.pem"),
      tinkUrl: "",
      authorities: world.authorities,
      hookosCommandLine: COMMAND_LINE,
      osCommandLine: "talos.platform=metal",
      attestTries: 2,
      attestGapSeconds: 0.1,
      tpm,
      machines: [SPEC],
    };
    const { process: running, url } = await started(options, temporary);
    const call = async (path: string, body?: unknown) => {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      return (await (await fetch(`${url}${path}`, init)).json()) as Record<string, unknown>;
    };
    const overview = await call("/");
    expect(overview).toMatchObject({ tpm, machines: ["w1"], firmware: { good: { commandLine: COMMAND_LINE } } });
    const { eks } = (await call("/machines/w1")) as { eks: string[] };
    expect(eks.length).toBe(tpm === "swtpm" ? 3 : 2);
    await world.declare({ ekDigests: async () => eks });
    await call("/machines/w1/power", { state: "on", boot: "pxe" });
    const exit = async () => ((await call("/machines/w1")).attestations as { exit: number | null }[])[0]?.exit;
    await expect.poll(exit, { timeout: 20_000 }).toBe(0);
    expect((await call("/machines/w1")).events).toContain("tink-attest: attested (install)");

    await call("/machines/w1/power", { state: "cycle", boot: "pxe" });
    await expect.poll(async () => (await call("/machines/w1")).runs, { timeout: 10_000 }).toBe("hookos");
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(readdirSync(temporary).filter((name) => name.startsWith("swtpm-"))).toEqual([]);
    expect(processesIn(world.directory)).toEqual([]);
  });
});
