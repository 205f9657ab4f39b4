import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { renderTemplate } from "../../../../infra/lab/tink/template.ts";

describe("renderTemplate", () => {
  it.each([
    ["a {{ .x }} {{.y}}", { x: "1", y: "2" }, "a 1 2"],
    ['{{ if eq .x "1" }}yes{{ else }}no{{ end }}', { x: "1" }, "yes"],
    ['{{ if eq .x "1" }}yes{{ else }}no{{ end }}', { x: "2" }, "no"],
    ['{{ if eq .x "1" }}yes{{ end }}.', { x: "2" }, "."],
    ['{{ if eq .x "1" }}{{ if eq .y "1" }}both{{ else }}x{{ end }}{{ end }}', { x: "1", y: "2" }, "x"],
    ['{{ if eq .x "1" }}{{ .absent }}{{ else }}no{{ end }}', { x: "2" }, "no"],
  ])("%s", (source, values, text) => {
    expect(renderTemplate(source, values)).toBe(text);
  });

  it.each([
    ["{{ .absent }}", 'map has no entry for key "absent"'],
    ['{{ if eq .absent "1" }}x{{ end }}', 'map has no entry for key "absent"'],
    ['{{ if eq .x "1" }}x', "unexpected EOF"],
    ["x{{ end }}", "unexpected"],
    ["{{ range .x }}", "does not know"],
    ["{{ .constructor }}", "no entry"],
  ])("refuses %s", (source, words) => {
    expect(() => renderTemplate(source, { x: "1" })).toThrow(words);
  });

  it("splices a value as text, which may add actions", () => {
    const source = 'actions:\n- {name: one, command: ["{{ .serial }}"]}\n';
    const serial = 'S1"]}\n- {name: evil, command: ["x';
    const rendered = parse(renderTemplate(source, { serial })) as { actions: { name: string }[] };
    expect(rendered.actions.map(({ name }) => name)).toEqual(["one", "evil"]);
  });
});

describe("the Templates of infra/tinkerbell", () => {
  const values = {
    device_1: "52:54:00:00:00:01",
    disk_device: "/dev/nvme0n1",
    disk_serial: "SER",
    installer: "i",
    code_required: "true",
    install: "true",
    os: "talos",
    tools_image: "tools@sha256:1",
    seed_url: "https://x/seed",
    uuid: "u",
  };
  const commands = (name: string, changed: Partial<typeof values> = {}) => {
    const template = parse(readFileSync(`infra/tinkerbell/templates/${name}.yaml`, "utf8"));
    const { tasks, global_timeout } = parse(renderTemplate(template.spec.data, { ...values, ...changed }));
    const [{ actions, worker }] = tasks as [{ actions: { command: string[]; timeout: number }[]; worker: string }];
    expect(worker).toBe(values.device_1);
    expect(actions.reduce((sum, { timeout }) => sum + timeout, 0)).toBeLessThanOrEqual(global_timeout);
    return actions.map(({ command }) => command.join(" "));
  };
  const guard = "disk-guard /dev/nvme0n1 SER";
  const wipe = "wipe /dev/nvme0n1 SER";
  const install = ["install-talos /dev/nvme0n1 SER i", "next-boot /dev/nvme0n1 SER talos", "reboot"];

  it.each([
    ["provision", {}, [guard, "wait-code code", wipe, ...install]],
    ["provision", { code_required: "false" }, [guard, wipe, ...install]],
    ["provision", { install: "false" }, [guard, "wait-code pass", wipe]],
    ["provision", { install: "false", code_required: "false" }, [guard, wipe]],
    ["wipe", {}, [guard, wipe]],
    ["attest", {}, ["reboot"]],
    ["retire", {}, [guard, wipe, "erase /dev/nvme0n1 SER", "poweroff"]],
  ])("%s %o", (name, changed, expected) => {
    expect(commands(name, changed)).toEqual(expected);
  });
});
