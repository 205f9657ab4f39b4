import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const directory = mkdtempSync(join(tmpdir(), "fleetd-hookos-"));
afterAll(() => rmSync(directory, { recursive: true }));

const build = (services = "", commandLine = "console=tty0 lockdown=integrity fleet_stage=hookos") => `kernel:
  image: kernel@sha256:00
  cmdline: "${commandLine}"
init:
  - init@sha256:00
services:
  # getty and sshd of the stock file are gone
  - name: dhcpcd
    image: dhcpcd@sha256:00
    command: ["/bin/sh", "-c", "exec dhcpcd"]
  - name: bootkit # no getty
    image: hook-bootkit@sha256:00
${services}`;

function check(text: string) {
  const file = join(directory, "hook.yaml");
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync("infra/hookos/check", [file], { encoding: "utf8" });
  return { status, said: `${stdout}${stderr}`.replaceAll(`${file}`, "hook.yaml") };
}

describe("infra/hookos/check", () => {
  test("passes a build that lets nobody in", () => {
    expect(check(build())).toEqual({ status: 0, said: "fit to be signed\n" });
  });

  test.each([
    ["  - name: getty\n    image: getty@sha256:00", "hook.yaml:13: a login on a console or serial line"],
    ['    env:\n      - "INSECURE=true"', "hook.yaml:14: a login without a password"],
    ["  - name: sshd", "hook.yaml:13: a way in by network"],
    ['    command: ["/bin/ash"]', "hook.yaml:13: a shell in place of a service"],
    ["    command: /bin/sh", "hook.yaml:13: a shell in place of a service"],
    ["    contents: ttyS0::askfirst:-/bin/sh", "hook.yaml:13: a login on a console or serial line"],
  ])("refuses %j", (services, reason) => {
    const { status, said } = check(build(services));
    expect(said).toContain(reason);
    expect(said).not.toContain("fit to be signed");
    expect(status).toBe(1);
  });

  test.each([
    ["console=tty0", "hook.yaml: lockdown=integrity is not on the kernel command line"],
    ["lockdown=integrity init=/bin/sh", "hook.yaml:3: a kernel argument that gives a shell"],
    ["lockdown=integrity rdinit=/bin/bash", "hook.yaml:3: a kernel argument that gives a shell"],
    ["lockdown=integrity lockdown=none", "hook.yaml:3: a kernel argument that weakens it"],
  ])("refuses the command line %j", (commandLine, reason) => {
    const { status, said } = check(build("", commandLine));
    expect(said).toContain(reason);
    expect(status).toBe(1);
  });

  test("says that a file cannot be read", () => {
    const { status, stderr } = spawnSync("infra/hookos/check", ["/nowhere.yaml"], { encoding: "utf8" });
    expect(stderr).toBe("/nowhere.yaml: cannot be read\n");
    expect(status).toBe(2);
  });
});
