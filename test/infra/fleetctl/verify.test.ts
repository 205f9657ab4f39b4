import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { ANSWERS, answeredBundle } from "../../vectors/answers.ts";
import { vmBundle, vmSets } from "../../vectors/to-bundle.ts";
import { jsonFile, run, runProcess, textFile, vectorPath } from "./cli.ts";

const vm = (name: string) => {
  const set = vmSets().find((one) => one.name === name);
  if (!set) throw new Error(name);
  return jsonFile(vmBundle(set), `${name}.json`);
};

interface Line {
  file: string;
  verdict: string;
  codes: string[];
  checks: { name: string; ok: boolean; code?: string; seen: string; expected: string }[];
}

const lines = (out: string) => out.split("\n").map((line) => JSON.parse(line) as Line);

describe("every recorded attestation, in one call", () => {
  const files = Object.keys(ANSWERS);
  const paths = files.map((file) => jsonFile(answeredBundle(file), file));
  test("one JSON line a file, with exactly the four fields, in the order given", async () => {
    const { code, out, err } = await run(["verify", ...paths, "--json"]);
    expect(err).toBe("");
    expect(lines(out).map((line) => Object.keys(line))).toEqual(
      files.map(() => ["file", "verdict", "codes", "checks"]),
    );
    expect(lines(out).map(({ file, verdict, codes }) => [file, verdict, codes])).toEqual(
      files.map((file, i) => [paths[i], ANSWERS[file]?.[0], ANSWERS[file]?.[1]]),
    );
    for (const { verdict, codes, checks } of lines(out)) {
      const failed = checks.filter((check) => !check.ok);
      expect(verdict === "accepted").toBe(failed.length === 0);
      expect([...new Set(failed.map((check) => check.code))]).toEqual(codes);
      for (const check of checks) expect([typeof check.seen, typeof check.expected]).toEqual(["string", "string"]);
    }
    expect(code).toBe(2);
  });

  test.each([
    ["accepted", 0],
    ["refused", 1],
    ["unreadable", 2],
  ])("exit code of a set that is all %s: %d", async (verdict, expected) => {
    const chosen = paths.filter((_, i) => ANSWERS[files[i] ?? ""]?.[0] === verdict);
    expect((await run(["verify", ...chosen, "--json"])).code).toBe(expected);
    expect((await run(["verify", ...chosen])).code).toBe(expected);
  });

  test("the text names the check, what was seen and what was expected, and counts", async () => {
    const refused = paths[files.indexOf("bad-log-cut-mid-event.json")] ?? "";
    const { out } = await run(["verify", refused, paths[files.indexOf("ok-rhel8-gce-rsa.json")] ?? ""]);
    expect(out).toMatch(/: refused \(event-log-malformed\), as intake, without a profile/);
    expect(out).toMatch(/FAIL {2}event-log \[event-log-malformed\]\n +seen +.*record 82 at byte 33872/);
    expect(out).toMatch(/\n +expected +records to the last byte/);
    expect(out).toMatch(/\n2 files: 1 accepted, 1 refused, 0 unreadable$/);
  });
});

/** name of a set, profile, purpose → codes; the operator is the lab whose key signed the sets' HookOS. */
const POLICY: readonly [set: string, profile: string, purpose: string, codes: readonly string[]][] = [
  ["lab-sb-on", "debian", "intake", []],
  ["lab-sb-on", "ubuntu", "intake", []],
  ["lab-pxe", "debian", "intake", []],
  ["net-http", "debian", "intake", []],
  ["net-ipxe", "debian", "intake", []],
  ["lab-ovmf2025", "debian", "intake", []],
  ["lab-sha384-crb", "debian", "intake", []],
  ["labms-lab", "debian", "intake", []],
  ["lab-sb-on", "debian", "renewal", ["authority-not-accepted"]],
  ["lab-sb-off", "debian", "intake", ["secure-boot-mismatch", "authority-not-accepted"]],
  ["lab-setup-mode", "debian", "intake", ["secure-boot-mismatch", "authority-not-accepted"]],
  ["debian-ms", "debian", "intake", ["not-hookos"]],
  ["debian-ms", "debian", "renewal", []],
  ["debian-labms", "debian", "renewal", []],
  ["debian-ms", "ubuntu", "renewal", ["authority-not-accepted"]],
  ["debian-ms", "talos", "renewal", ["authority-not-accepted"]],
  ["debian-sb-off", "debian", "renewal", ["event-log-missing"]],
  // These images were made without the words that tell HookOS from the installed system where one key signs both.
  ["lab-sb-on", "talos", "intake", ["not-hookos"]],
  ["disk-after-install", "talos", "renewal", ["authority-not-accepted"]],
];

describe("the virtual machines under the shipped profiles", () => {
  const operator = vectorPath("vm/certs/lab-db.pem");
  test.each(POLICY)("%s by %s at %s: %j", async (set, profile, purpose, codes) => {
    const args = ["verify", vm(set), "--profile", profile, "--purpose", purpose, "--operator", operator, "--json"];
    const { code, out } = await run(args);
    expect(lines(out)[0]?.codes).toEqual(codes);
    expect(code).toBe(codes.length === 0 ? 0 : 1);
  });

  test("without the operator's certificates none of theirs is accepted, and distributions' are", async () => {
    const args = (set: string, purpose: string) => ["verify", vm(set), "--profile", "debian", "--purpose", purpose];
    const refused = await run(args("lab-sb-on", "intake"));
    expect([refused.code, refused.out]).toEqual([1, expect.stringMatching(/authority-not-accepted/)]);
    expect((await run(args("debian-ms", "renewal"))).code).toBe(0);
  });

  test("EK certificates are shown, with their issuer", async () => {
    const { out } = await run(["verify", vm("lab-sb-on"), "--json"]);
    const shown = lines(out)[0]?.checks.filter((check) => check.name === "ek-certificate");
    expect(shown?.map((check) => check.ok)).toEqual([true, true]);
    expect(shown?.[0]?.seen).toMatch(
      /^sha256:[0-9a-f]{64}, TPM id:00001014 swtpm id:20191023, issued by CN=swtpm-localca, /,
    );
  });

  test("EK certificates are followed to the manufacturer's root, where its certificates are given", async () => {
    const shown = async (...args: string[]) => {
      const { code, out } = await run(["verify", vm("lab-sb-on"), "--json", ...args]);
      expect(code).toBe(0);
      return lines(out)[0]?.checks.flatMap((check) => (check.name === "ek-certificate" ? [check.seen] : []));
    };
    expect(await shown()).toEqual([
      expect.stringMatching(/no FLEET_EK_ROOTS$/),
      expect.stringMatching(/no FLEET_EK_ROOTS$/),
    ]);
    expect(await shown("--ek-roots", vectorPath("vm/ekca"))).toEqual([
      expect.stringMatching(/, chain to CN=swtpm-localca-rootca$/),
      expect.stringMatching(/, chain to CN=swtpm-localca-rootca$/),
    ]);
    expect(await shown("--ek-roots", vectorPath("vm/certs"))).toEqual([
      expect.stringMatching(/, no chain: issuer not known: CN=swtpm-localca$/),
      expect.stringMatching(/, no chain: issuer not known: CN=swtpm-localca$/),
    ]);
  });

  test("a bundle that names a profile is judged by it, and by another on demand", async () => {
    const set = vmSets().find((one) => one.name === "debian-ms");
    if (!set) throw new Error("no set");
    const file = jsonFile({ ...vmBundle(set), profile: "debian", purpose: "renewal", secureBoot: "required" });
    expect((await run(["verify", file])).out).toMatch(/accepted, as renewal, by profile debian/);
    expect((await run(["verify", file, "--profile", "ubuntu"])).code).toBe(1);
    expect((await run(["verify", file, "--purpose", "intake"])).out).toMatch(/refused \(not-hookos\), as intake/);
  });
});

describe("what is no evidence is unreadable, and said", () => {
  test.each([
    ["no file", () => "/nowhere/evidence.json", "no such file"],
    ["a folder", () => "/", /cannot be read/],
    ["no JSON", () => textFile("{", "a.json"), "no JSON"],
    ["no UTF-8", () => textFile(new Uint8Array([0x22, 0xff, 0x22]), "a.json"), "no JSON"],
    ["an empty file", () => textFile("", "a.json"), "no JSON"],
    ["a list", () => jsonFile([]), "not an object"],
    ["an object of other things", () => jsonFile({ a: 1 }), "akPublic: is missing, or not of its form"],
  ])("%s", async (_, file, seen) => {
    const { code, out } = await run(["verify", file(), "--json"]);
    expect(code).toBe(2);
    expect(lines(out)).toEqual([
      {
        file: expect.any(String),
        verdict: "unreadable",
        codes: ["bad-request"],
        checks: [
          {
            name: "bundle",
            ok: false,
            code: "bad-request",
            seen: typeof seen === "string" ? seen : expect.stringMatching(seen),
            expected: "an evidence bundle",
          },
        ],
      },
    ]);
  });
});

describe("a wrong call ends with 64 and says what is wrong", () => {
  test.each([
    [["verify"], /no file/],
    [["verify", "a", "--profile", "nosuch"], /no profile nosuch; there are: debian, talos, ubuntu/],
    [["verify", "a", "--purpose", "enrol"], /intake or renewal/],
    [["verify", "a", "--surplus"], /Unknown option '--surplus'/],
    [["verify", "a", "--profiles", "/nowhere"], /\/nowhere: ENOENT/],
    [["verify", "a", "--operator", "/nowhere"], /--operator \/nowhere: cannot be read/],
    [["verify", "a", "--operator", "/dev/null"], /--operator \/dev\/null: holds no certificate in PEM/],
    [["verify", "a", "--ek-roots", "/nowhere"], /\/nowhere: ENOENT/],
    [["verify", "a", "--ek-roots", vectorPath("vm/manifest.json")], /something else than certificates/],
    [["surprise"], /no command surprise/],
    [["eventlog"], /one file/],
    [["eventlog", "a", "b"], /one file/],
    [["diff", "a"], /two files/],
  ])("%j", async (args, text) => {
    const { code, out, err } = await run(args);
    expect([code, out]).toEqual([64, ""]);
    expect(err).toMatch(text);
  });
});

test("a profile whose name is not its file's is refused", async () => {
  const authorities = [{ sha256: "ab".repeat(32), subject: "x", for: ["os"] }];
  const path = textFile(JSON.stringify({ name: "q", bank: "sha256", authorities }), "p.json");
  const { code, err } = await run(["verify", "a", "--profiles", dirname(path)]);
  expect([code, err]).toEqual([64, expect.stringMatching(/p\.json: its name is q, and its file is p\.json/)]);
});

test("a PEM that is not the certificate a profile pins is refused", async () => {
  const folder = textFile(
    JSON.stringify({
      name: "p",
      bank: "sha256",
      authorities: [{ pem: "a.pem", sha256: "ab".repeat(32), for: ["os"] }],
    }),
    "p.json",
  ).replace(/p\.json$/, "");
  const { copyFileSync } = await import("node:fs");
  copyFileSync(vectorPath("vm/certs/Debian-Secure-Boot-CA.pem"), `${folder}a.pem`);
  const { code, err } = await run(["verify", "a", "--profiles", folder]);
  expect([code, err]).toEqual([64, expect.stringMatching(/not the certificate (ab){32} alone/)]);
});

test("as a process: output on stdout alone, the exit code, no bundle's name trusted in the terminal", () => {
  const { code, out, err } = runProcess(["verify", vm("lab-sb-on"), "--json"]);
  expect([code, err, lines(out.trimEnd())[0]?.verdict]).toEqual([0, "", "accepted"]);
  expect(runProcess(["--help"]).out).toMatch(/verify +verify recorded evidence again, offline/);
});

describe("what would stop or mislead the tool", () => {
  const good = vm("lab-sb-on");
  test("a moment that is none, in one file of several: each has its line", async () => {
    const set = vmSets().find((one) => one.name === "lab-sb-on");
    if (!set) throw new Error("no set");
    const odd = [{ toString: 1 }, [[[]]], 7, null, "yesterday"].map((at) => jsonFile({ ...vmBundle(set), at }));
    const { code, out } = await run(["verify", ...odd, good, "--json"]);
    expect([code, lines(out).map((line) => line.verdict)]).toEqual([0, Array(6).fill("accepted")]);
  });

  test("nesting without end, and more than is read", async () => {
    const deep = textFile(`${"[".repeat(200_000)}${"]".repeat(200_000)}`, "deep.json");
    const { code, out } = await run(["verify", deep, "/dev/zero", good, "--json"]);
    expect(code).toBe(2);
    expect(lines(out).map((line) => [line.verdict, line.checks[0]?.seen])).toEqual([
      ["unreadable", "not an object"],
      ["unreadable", "more than the 67108864 bytes that are read"],
      ["accepted", expect.any(String)],
    ]);
  });

  test("a file's name and a profile's text move no terminal", async () => {
    const { out } = await run(["verify", `/nowhere/\u001b[31m.json`]);
    expect(out).toContain("/nowhere/\\u001b[31m.json: unreadable");
    const folder = textFile(JSON.stringify({ "\u001b[2J": 1 }), "p.json").replace(/p\.json$/, "");
    expect((await run(["verify", good, "--profiles", folder])).err).not.toContain("\u001b");
  });

  test("a profile that is named and not at hand is said, with --json too", async () => {
    const set = vmSets().find((one) => one.name === "debian-ms");
    if (!set) throw new Error("no set");
    const file = jsonFile({ ...vmBundle(set), profile: "lab", purpose: "renewal" });
    const { code, out, err } = await run(["verify", file, "--json"]);
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/profile lab, which is not at hand: no authority was judged/),
    ]);
    expect(lines(out)[0]?.checks.find((check) => check.name === "profile")?.seen).toBe("lab, which is not at hand");
  });

  test("a refusal that only your own certificates could lift says so; another does not", async () => {
    const note = /debian has no operator\.pem, so nothing that you signed is accepted/;
    expect((await run(["verify", good, "--profile", "debian"])).err).toMatch(note);
    expect((await run(["verify", vm("debian-ms"), "--profile", "debian", "--purpose", "renewal"])).err).toBe("");
  });

  test("stdin, a folder to be in, the version", () => {
    const main = new URL("../../../infra/fleetctl/main.ts", import.meta.url).pathname;
    const piped = spawnSync(process.execPath, [main, "verify", "-"], { input: readFileSync(good), encoding: "utf8" });
    expect([piped.status, piped.stdout]).toEqual([0, expect.stringMatching(/^-: accepted/)]);
    const env = { npm_lifecycle_event: "fleetctl", INIT_CWD: dirname(good) };
    const there = spawnSync(process.execPath, [main, "verify", basename(good)], { env, encoding: "utf8" });
    expect(there.status).toBe(0);
    expect(runProcess(["--version"]).out).toMatch(/^fleetctl \d+\.\d+\.\d+\n$/);
  });
});
