import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPolicy, type PolicyCheck } from "../../../../shared/adapters/policy/policy-files.ts";
import { profilesFault } from "../../../../shared/attest/profile.ts";
import { fakeAuthority } from "../../../fakes/authority.ts";

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
    profiles: { talos: { name: "talos", authorities: [{ pem, pemFile: "lab.pem", for: ["os"] }, { pem }] } },
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
  ["profiles/talos.json", { authorities: [{ pem: "gone.pem" }] }, /talos\.json names gone\.pem: \S+gone\.pem: ENOENT/],
  [
    "profiles/talos.json",
    { a: [{ pem: "../secrets.yaml" }] },
    /profiles\/talos\.json: its pem \.\.\/secrets\.yaml is outside/,
  ],
  ["profiles/talos.json", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "profiles/talos.json: is nested too deeply"],
])("keeps the last good set while %s is %j, says so, and takes the next good one", async (name, bad, words) => {
  const port = policy();
  const good = await port.current();
  write(name, bad);
  const kept = await port.current();
  expect(kept).toEqual({ ...good, problem: expect.stringMatching(words) });
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

describe("a file that cannot be read keeps the last good set, and the next good one is taken", () => {
  const roots = (folderOrFile = "roots") =>
    createPolicy({
      ...{ classes: at("classes.json"), classInputs: null, ekPins: null, talosSecrets: null },
      ...{ ekRoots: at(folderOrFile), profiles: at("profiles") },
    });
  beforeEach(() => {
    mkdirSync(at("roots"));
    write("roots/a.pem", fakeAuthority("EK root").pem);
  });

  it("a folder among FLEET_EK_ROOTS is left alone", async () => {
    const port = roots();
    const good = await port.current();
    mkdirSync(at("roots/old"));
    write("roots/old/b.pem", "none");
    expect(await port.current()).toEqual(good);
    rmSync(at("roots/old"), { recursive: true });
    write("roots/b.pem", fakeAuthority("EK root 2").pem);
    expect((await port.current()).ekRoots).toHaveLength(4);
  });

  it.each<[string, () => void, () => void, string]>([
    ["a pipe", () => execFileSync("mkfifo", [at("roots/p")]), () => unlinkSync(at("roots/p")), "p: is no regular file"],
    [
      "a device",
      () => symlinkSync("/dev/zero", at("roots/z")),
      () => unlinkSync(at("roots/z")),
      "z: is no regular file",
    ],
    ["a link to nothing", () => symlinkSync("/no", at("roots/l")), () => unlinkSync(at("roots/l")), "l: ENOENT"],
    ["a loop", () => symlinkSync("l", at("roots/l")), () => unlinkSync(at("roots/l")), "l: ELOOP"],
    [
      "a private key",
      () => write("roots/k", "-----BEGIN X-----"),
      () => unlinkSync(at("roots/k")),
      "roots: no certificate",
    ],
    [
      "a folder in a profile's place",
      () => mkdirSync(at("profiles/z.json")),
      () => rmdirSync(at("profiles/z.json")),
      "profiles/z.json: is a folder",
    ],
    [
      "no folder of profiles",
      () => renameSync(at("profiles"), at("away")),
      () => renameSync(at("away"), at("profiles")),
      "profiles: ENOENT",
    ],
  ])("%s", async (name, spoil, mend, words) => {
    const port = roots();
    const good = await port.current();
    if (name === "a private key") unlinkSync(at("roots/a.pem"));
    spoil();
    for (let i = 0; i < 2; i++)
      expect(await port.current()).toEqual({ ...good, problem: expect.stringContaining(words) });
    mend();
    if (name === "a private key") write("roots/a.pem", fakeAuthority("EK root").pem);
    expect((await port.current()).problem).toBeUndefined();
  });

  it("a file that cannot be read just now is tried again without being written", async () => {
    // Root may read everything: a link whose target comes back stands for permissions that do.
    symlinkSync(at("elsewhere"), at("roots/b.pem"));
    const port = roots("roots/b.pem");
    await expect(port.current()).rejects.toThrow("b.pem: ENOENT");
    write("elsewhere", fakeAuthority("EK root").pem);
    expect((await port.current()).ekRoots).toHaveLength(2);
  });

  it("a check that throws is a problem too, and shows nothing of the files", async () => {
    let spoiled = false;
    const port = policy(() => {
      if (spoiled) throw new RangeError("very-secret");
      return null;
    });
    const good = await port.current();
    spoiled = true;
    write("classes.json", {});
    expect(await port.current()).toEqual({ ...good, problem: "the policy files cannot be used: RangeError" });
    spoiled = false;
    expect((await port.current()).problem).toBeUndefined();
  });
});

describe("what is wrong with a profile, by file, PEM and value", () => {
  const lab = fakeAuthority("lab");
  const digest = (one: { der: Uint8Array }) => createHash("sha256").update(one.der).digest("hex");
  const profile = (change: object) => ({
    ...{ name: "talos", bank: "sha256", authorities: [{ pem: "lab.pem", for: ["hookos", "os"] }] },
    ...{ hookosMarker: "a", osMarker: "b", ...change },
  });
  const authority = (change: object) => profile({ authorities: [{ pem: "lab.pem", for: ["os"], ...change }] });
  beforeEach(() => {
    write("profiles/lab.pem", lab.pem);
    write("profiles/key.pem", lab.keyPem);
    writeFileSync(at("profiles/der.pem"), lab.der);
    write("profiles/empty.pem", "");
  });
  it.each<[string, object, string | RegExp]>([
    ["none", profile({}), "fine"],
    [
      "another name",
      profile({ name: "debian" }),
      "talos.json: its name is debian, and its file is talos.json: they must",
    ],
    [
      "another digest",
      authority({ sha256: "0".repeat(64) }),
      `lab.pem: is not the certificate ${"0".repeat(64)} alone, it holds ${digest(lab)} (CN=lab)`,
    ],
    ["a key", authority({ pem: "key.pem" }), "talos.json: key.pem: holds a private key and no certificate"],
    ["DER", authority({ pem: "der.pem" }), "talos.json: der.pem: holds no certificate in PEM; of DER, openssl x509"],
    ["nothing", authority({ pem: "empty.pem" }), "talos.json: empty.pem: is empty"],
    [
      "one stage as text in another word",
      authority({ for: ["hook"] }),
      /talos\.json: authorities\[0\]\.for\[0\]: .*"hookos"\|"os"/,
    ],
    [
      "neither PEM nor digest",
      profile({ authorities: [{ for: ["os"] }] }),
      "authorities[0]: needs pem, or sha256 and subject",
    ],
    [
      "a digest of another form",
      authority({ sha256: "AB" }),
      "authorities[0].sha256: must be 64 lower-case hex digits",
    ],
  ])("%s", async (_name, json, words) => {
    write("profiles/talos.json", json);
    const texts = await policy().current();
    expect(profilesFault(texts.profiles) ?? "fine").toMatch(typeof words === "string" ? literally(words) : words);
  });
});

function literally(words: string): RegExp {
  return new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
}
