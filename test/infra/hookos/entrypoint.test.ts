import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeHookosRoot } from "../../../infra/lab/machine/hookos-root.ts";

let directory: string;
let root: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "fleetd-entrypoint-"));
  root = join(directory, "root");
  mkdirSync(join(directory, "bin"));
  symlinkSync(resolve("infra/hookos/tink-attest"), join(directory, "bin/tink-attest"));
  // The programs of HookOS that a test machine lacks, or must not run.
  program("mountpoint", "exit 0");
  program("ntpd", `echo "$@" >"${directory}/ntpd"`);
  program("tink-agent", 'echo "agent $ID $WORKER_ID $*"');
});
afterEach(() => rmSync(directory, { recursive: true }));

function program(name: string, body: string): void {
  const file = join(directory, "bin", name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
}

function start(commandLine: string, mac = "52:54:00:AB:CD:EF") {
  const facts = { serial: "SN1", uuid: "4c4c4544-0034-4410-8043-b7c04f335131", eventLog: new Uint8Array(0) };
  writeHookosRoot(root, { ...facts, mac, commandLine, lldpFrame: null });
  writeFileSync(join(root, "worker/fleet/install_code"), "OLD");
  writeFileSync(join(root, "worker/fleet/attested"), "OLD");
  const env = {
    PATH: `${join(directory, "bin")}:${process.env.PATH}`,
    FLEET_ROOT: root,
    FLEET_TRIES: "1",
    // No TPM answers there.
    TPM2TOOLS_TCTI: `swtpm:path=${directory}/none`,
    ID: "",
    WORKER_ID: "",
  };
  return spawnSync("/bin/sh", ["infra/hookos/entrypoint", "--log-level", "1"], { env, encoding: "utf8" });
}

describe("HookOS's entrypoint", () => {
  test("starts the agent though it cannot attest, by the boot NIC's MAC in lower case", () => {
    const { status, stdout, stderr } = start("quiet fleet_attest_url=https://127.0.0.1:9");
    expect(stdout).toBe("agent 52:54:00:ab:cd:ef 52:54:00:ab:cd:ef --log-level 1\n");
    expect(stderr).toMatch(/tink-attest: (this TPM gives no keys|\w+ is missing)/);
    expect(status).toBe(0);
  });

  test("removes an earlier boot's code first", () => {
    start("quiet");
    for (const name of ["install_code", "attested"]) expect(existsSync(join(root, "worker/fleet", name))).toBe(false);
  });

  test("says that the command line names no server, and sets the clock where it names one for that", () => {
    expect(start("quiet").stderr).toContain("fleet_attest_url is not on the kernel command line");
    expect(existsSync(join(directory, "ntpd"))).toBe(false);
    start("quiet fleet_ntp_server=10.0.0.1");
    expect(existsSync(join(directory, "ntpd"))).toBe(true);
  });

  test("takes the NIC that iPXE named, where it did", () => {
    const { stdout } = start("worker_id=02:42:00:00:00:01 hw_addr=52:54:00:AB:CD:EF");
    expect(stdout).toContain("agent 52:54:00:ab:cd:ef");
  });
});
