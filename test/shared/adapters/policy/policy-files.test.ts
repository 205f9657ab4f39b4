import { mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createPolicy, type PolicyCheck } from "../../../../shared/adapters/policy/policy-files.ts";

const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
let folder: string;
const at = (name: string) => join(folder, name);
const write = (name: string, value: unknown) => {
  writeFileSync(at(`${name}.new`), typeof value === "string" ? value : JSON.stringify(value));
  renameSync(at(`${name}.new`), at(name));
};
const policy = (check?: PolicyCheck) =>
  createPolicy(
    {
      classes: at("classes.json"),
      classInputs: at("inputs.json"),
      ekPins: null,
      profiles: at("profiles"),
      talosSecrets: at("secrets.yaml"),
    },
    check,
  );

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetd-policy-"));
  mkdirSync(at("profiles"));
  write("classes.json", { worker: { os: "talos" } });
  write("inputs.json", { talos: "v1" });
  write("profiles/lab.pem", pem);
  write("profiles/talos.json", { name: "talos", authorities: [{ pem: "lab.pem", for: ["os"] }, { pem }] });
  write("secrets.yaml", "cluster:\n  id: abc\n  secret: very-secret\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("reads all files, with the PEM texts in place", async () => {
  expect(await policy().current()).toEqual({
    classes: { worker: { os: "talos" } },
    classInputs: { talos: "v1" },
    ekPins: null,
    profiles: { talos: { name: "talos", authorities: [{ pem, for: ["os"] }, { pem }] } },
    talosSecrets: { cluster: { id: "abc", secret: "very-secret" } },
  });
});

it("is read once while nothing changes, and again when any file does", async () => {
  const port = policy();
  const first = await port.current();
  expect(await port.current()).toBe(first);
  write("profiles/lab.pem", pem.replace("AAAA", "BBBB"));
  expect((await port.current()).profiles).toMatchObject({
    talos: { authorities: [{ pem: pem.replace("AAAA", "BBBB") }, { pem }] },
  });
  write("profiles/debian.json", { name: "debian" });
  expect(Object.keys((await port.current()).profiles)).toEqual(["debian", "talos"]);
  unlinkSync(at("profiles/debian.json"));
  expect(Object.keys((await port.current()).profiles)).toEqual(["talos"]);
});

it.each([
  ["classes.json", "{", "classes.json: no JSON"],
  ["secrets.yaml", "a: [very-secret", "secrets.yaml: no YAML"],
  ["profiles/talos.json", { authorities: [{ pem: "gone.pem" }] }, "gone.pem: ENOENT"],
  ["profiles/talos.json", { authorities: [{ pem: "../secrets.yaml" }] }, "outside of it"],
])("keeps the last good set while %s is %j, says so, and takes the next good one", async (name, bad, words) => {
  const port = policy();
  const good = await port.current();
  write(name, bad);
  const kept = await port.current();
  expect(kept).toEqual({ ...good, problem: expect.stringContaining(words) });
  expect(kept.problem).not.toContain("very-secret");
  expect(await port.current()).toEqual(kept);
  write(name, name.endsWith("yaml") ? "cluster: {id: new}" : { next: true });
  const next = await port.current();
  expect(next.problem).toBeUndefined();
  expect(next).not.toEqual(good);
});

it("refuses where there never was a good set, and starts with the first one", async () => {
  unlinkSync(at("classes.json"));
  const port = policy();
  await expect(port.current()).rejects.toMatchObject({ name: "PortError", kind: "rejected", port: "policy" });
  write("classes.json", {});
  expect((await port.current()).classes).toEqual({});
});

it("a set that the check refuses is not taken", async () => {
  const port = policy((texts) => (JSON.stringify(texts.classes).includes("windows") ? "class x: no such os" : null));
  await port.current();
  write("classes.json", { x: { os: "windows" } });
  expect(await port.current()).toMatchObject({ classes: { worker: { os: "talos" } }, problem: "class x: no such os" });
});

it("a thousand calls at once read once", async () => {
  let checks = 0;
  const port = policy(() => {
    checks++;
    return null;
  });
  const all = await Promise.all(Array.from({ length: 1000 }, () => port.current()));
  expect(new Set(all).size).toBe(1);
  expect(checks).toBe(1);
});
