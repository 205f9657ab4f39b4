import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createFiles } from "../../../../shared/adapters/spire/files.ts";

const folder = mkdtempSync(join(tmpdir(), "fleetd-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
const mode = (path: string) => statSync(path).mode & 0o777;

it("the list of nodes is replaced whole, readable for others, and no other file stays", async () => {
  const files = createFiles({ spireNodesFile: at("spire/nodes.json"), evidenceFolder: null });
  await files.writeSpireNodes("[1]");
  const first = statSync(at("spire/nodes.json"));
  await files.writeSpireNodes("[1]");
  expect(statSync(at("spire/nodes.json")).ino).toBe(first.ino);
  await files.writeSpireNodes("[2]");
  expect(statSync(at("spire/nodes.json")).ino).not.toBe(first.ino);
  expect(readFileSync(at("spire/nodes.json"), "utf8")).toBe("[2]");
  expect(mode(at("spire/nodes.json"))).toBe(0o644);
  expect(readdirSync(at("spire"))).toEqual(["nodes.json"]);
});

it("a reader never sees half a list", async () => {
  const files = createFiles({ spireNodesFile: at("race.json"), evidenceFolder: null });
  const texts = Array.from({ length: 20 }, (_, i) => JSON.stringify(Array(20_000).fill(i)));
  await files.writeSpireNodes(texts[0] ?? "");
  let done = false;
  const writing = (async () => {
    for (const text of texts) await files.writeSpireNodes(text);
    done = true;
  })();
  while (!done) {
    expect(texts).toContain(readFileSync(at("race.json"), "utf8"));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writing;
});

it("evidence is one file each, for its owner only", async () => {
  const files = createFiles({ spireNodesFile: null, evidenceFolder: at("evidence") });
  await files.writeEvidence("node-1", Date.UTC(2026, 10, 29, 18, 0, 0, 7), "{}");
  await files.writeEvidence("node-1", Date.UTC(2026, 10, 29, 18, 0, 1, 0), "{}");
  const names = readdirSync(at("evidence"));
  expect(names).toEqual(["node-1-2026-11-29T18-00-00.007Z.json", "node-1-2026-11-29T18-00-01.000Z.json"]);
  for (const name of names) expect(mode(at(`evidence/${name}`))).toBe(0o600);
});

it.each(["../x", "a/b", "", ".", "A", `${"a".repeat(64)}`])(
  "a device named %j leaves the folder alone",
  async (name) => {
    const files = createFiles({ spireNodesFile: null, evidenceFolder: at("other") });
    await expect(files.writeEvidence(name, 0, "{}")).rejects.toMatchObject({ kind: "rejected" });
  },
);

it("a folder that cannot be is unavailable", async () => {
  writeFileSync(at("file"), "");
  const files = createFiles({ spireNodesFile: at("file/nodes.json"), evidenceFolder: null });
  await expect(files.writeSpireNodes("[]")).rejects.toMatchObject({ kind: "unavailable", port: "files" });
});

it("writes nothing where nothing is named", async () => {
  const before = readdirSync(folder);
  const files = createFiles({ spireNodesFile: null, evidenceFolder: null });
  await files.writeSpireNodes("[]");
  await files.writeEvidence("node-1", 0, "{}");
  expect(readdirSync(folder)).toEqual(before);
});
