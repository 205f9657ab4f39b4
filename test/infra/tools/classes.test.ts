import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { classTableSchema, freezeClass } from "../../../shared/fleet/class.ts";

describe("just classes", () => {
  it("joins infra/classes to a file that FLEET_CLASSES can name", () => {
    const out = join(mkdtempSync(join(tmpdir(), "fleetd-classes-")), "classes.json");
    execFileSync(process.execPath, ["infra/tools/classes.mjs", out]);
    const table = classTableSchema.parse(JSON.parse(readFileSync(out, "utf8")));
    expect(Object.keys(table)).toEqual(["talos-worker"]);
    // The shipped class has no pin: what an install writes is each fleet's own, and nothing installs without one.
    expect(freezeClass("talos-worker", table, null)?.pin).toBeNull();
  });
});

describe("without a file to write it writes none", () => {
  it.each([
    [[], 64],
    [["--hlep"], 64],
    [["a", "b", "c"], 64],
    [["--help"], 0],
  ])("%j ends with %i", (args, status) => {
    const folder = mkdtempSync(join(tmpdir(), "fleetd-classes-"));
    const script = join(process.cwd(), "infra/tools/classes.mjs");
    const run = spawnSync(process.execPath, [script, ...args], { cwd: folder, encoding: "utf8" });
    expect([run.status, `${run.stdout}${run.stderr}`]).toEqual([
      status,
      "usage: node infra/tools/classes.mjs OUT [FOLDER]\n",
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("a class's pin (spec/00: its own is preferred, a build's tag counts only with its digest)", () => {
  const base = {
    os: "talos",
    workload: "worker",
    template: "provision",
    secureBoot: "required",
    payload: "talos",
    reattest: "renew",
    attestation: "supported",
  };
  const digest = `sha256:${"c".repeat(64)}`;
  const built = { talos: { image: "factory/installer", tag: "v1.13.9", digest } };
  const frozen = (extra: object, inputs: Parameters<typeof freezeClass>[2]) =>
    freezeClass("a", classTableSchema.parse({ a: { ...base, ...extra } }), inputs)?.pin ?? null;
  it.each([
    ["its own", { installer: `own@${digest}` }, built, { kind: "installer", installer: `own@${digest}` }],
    ["the build's", {}, built, { kind: "installer", installer: `factory/installer:v1.13.9@${digest}` }],
    ["no digest", {}, { talos: { image: "factory/installer", tag: "v1.13.9" } }, null],
    ["neither", {}, null, null],
  ])("%s", (_what, extra, inputs, pin) => expect(frozen(extra, inputs)).toEqual(pin));
  it("an installer without a digest is no class at all", () =>
    expect(classTableSchema.safeParse({ a: { ...base, installer: "own:v1" } }).success).toBe(false));
  it("an image class needs URL, digest and format", () => {
    const image = { os: "debian", payload: "cloud-init-nocloud", image: "https://x/i.raw", image_digest: digest };
    expect(frozen(image, null)).toBeNull();
    expect(frozen({ ...image, image_format: "raw" }, null)).toEqual({
      kind: "image",
      image: "https://x/i.raw",
      digest,
      format: "raw",
    });
  });
});
