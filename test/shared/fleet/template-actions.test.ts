import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { ActionView } from "../../../shared/fleet/boot-plane.ts";
import { actionsDiffer, expectedActions } from "../../../shared/fleet/plan/template-actions.ts";

const folder = new URL("../../../infra/tinkerbell/templates/", import.meta.url);
const VALUES = {
  device_1: "52:54:00:00:00:01",
  disk_device: "/dev/nvme0n1",
  disk_serial: "S4XYNX0R123456",
  installer: "registry.example/installer@sha256:00",
  image: "",
  image_digest: "",
  image_format: "",
  code_required: "true",
  install: "true",
  os: "talos",
  tools_image: "registry.example/tools:1",
  seed_url: "https://enroll.example/seed",
  uuid: "11111111-2222-4333-8444-555555555555",
};

function template(name: string): string {
  return (parse(readFileSync(new URL(`${name}.yaml`, folder), "utf8")) as { spec: { data: string } }).spec.data;
}

function rendered(actions: readonly { name: string; image: string; command: readonly string[] }[]): ActionView[] {
  return actions.map((a) => ({ ...a, state: "PENDING" as const, message: "", startedAtMs: null, stoppedAtMs: null }));
}

describe("the Template's actions (spec/30: rendered actions are compared by name, image and command)", () => {
  it.each([
    ["provision", ["disk-guard", "wait-code", "wipe", "install-talos", "next-boot", "reboot"]],
    ["attest", ["reboot"]],
    ["wipe", ["disk-guard", "wipe"]],
    ["retire", ["disk-guard", "wipe", "erase", "poweroff"]],
  ])("%s has the actions of spec/50 in their order", (name, names) => {
    expect(expectedActions(template(name), VALUES)?.map((a) => a.name)).toEqual(names);
  });

  it("reads every Template that is in infra/tinkerbell", () => {
    for (const file of readdirSync(folder))
      expect(expectedActions(template(file.replace(".yaml", "")), VALUES), file).not.toBeNull();
  });

  it("leaves the branches out that the values do not ask for", () => {
    const plain = expectedActions(template("provision"), { ...VALUES, install: "false", code_required: "false" });
    expect(plain?.map((a) => a.name)).toEqual(["disk-guard", "wipe"]);
  });

  it("cannot read what fleetd's Templates do not use", () => {
    expect(expectedActions("tasks: {{ range .x }}", VALUES)).toBeNull();
    expect(expectedActions("tasks: {{ .unknown }}", VALUES)).toBeNull();
    expect(expectedActions('{{ if eq .os "talos" }}tasks: []', VALUES)).toBeNull();
  });

  it("finds an action that a spliced disk serial added, as the real renderer made it", () => {
    const spliced = {
      ...VALUES,
      disk_serial: 'S"]\n      - name: evil\n        image: evil\n        command: ["sh',
    };
    const expected = expectedActions(template("wipe"), VALUES) ?? [];
    const seen = expectedActions(template("wipe"), spliced) ?? [];
    expect(seen.map((a) => a.name)).toContain("evil");
    expect(actionsDiffer(expected, rendered(seen))).toMatch(/evil/);
  });

  it("finds another image, another command, and nothing where all is the same", () => {
    const expected = expectedActions(template("wipe"), VALUES) ?? [];
    expect(actionsDiffer(expected, rendered(expected))).toBeNull();
    expect(actionsDiffer(expected, rendered(expected.map((a) => ({ ...a, image: "other" }))))).toMatch(/disk-guard/);
    expect(actionsDiffer(expected, rendered(expected.map((a) => ({ ...a, command: [...a.command, "x"] }))))).toMatch(
      /disk-guard/,
    );
  });
});
