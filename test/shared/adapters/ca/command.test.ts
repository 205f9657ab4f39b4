import { createPublicKey, verify } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandSigner } from "../../../../shared/adapters/ca/command.ts";
import { fakeAuthority } from "../../../fakes/authority.ts";

const folder = mkdtempSync(join(tmpdir(), "fleetd-command-"));
const at = (name: string) => join(folder, name);
const authority = fakeAuthority("Issuer");
const tbs = new Uint8Array(900).fill(5);
const PIN = "pin-8b1f";
const scratch = at("scratch");
const before = process.env.TMPDIR;

beforeAll(() => {
  mkdirSync(scratch);
  process.env.TMPDIR = scratch;
  process.env.FLEET_TEST_SECRET = "not for others";
  writeFileSync(at("key.pem"), authority.keyPem, { mode: 0o600 });
  writeFileSync(at("chain.pem"), authority.pem);
  writeFileSync(at("pin"), `${PIN}\n`, { mode: 0o600 });
  // Signs its input (a file, or stdin) and writes to a file, or stdout.
  writeFileSync(
    at("sign.mjs"),
    `import { createPrivateKey, sign } from "node:crypto";
     import { readFileSync, writeFileSync } from "node:fs";
     const [, , input, output] = process.argv;
     const key = createPrivateKey(readFileSync(${JSON.stringify(at("key.pem"))}));
     const signature = sign("sha256", readFileSync(input === "-" ? 0 : input), key);
     if (output === "-") process.stdout.write(signature); else writeFileSync(output, signature);`,
  );
});
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  delete process.env.FLEET_TEST_SECRET;
  rmSync(folder, { recursive: true, force: true });
});

const queue = { concurrency: 1, maxWaiting: 5, waitMs: 10_000 };
const signer = (command: readonly string[], more: { timeoutMs?: number; pinFile?: string } = {}) =>
  createCommandSigner({ command, input: "tbs", chainFile: at("chain.pem"), timeoutMs: 10_000, queue, ...more });
const sh = (script: string) => ["sh", "-c", script];
const good = (input = "{in}", output = "{out}") => [process.execPath, at("sign.mjs"), input, output];
const verifies = (signature: Uint8Array) => verify("sha256", tbs, createPublicKey(authority.keyPem), signature);
const alive = (pid: number) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

describe("input and output", () => {
  it.each([
    ["files", "{in}", "{out}"],
    ["stdin and stdout", "-", "-"],
    ["a file and stdout", "{in}", "-"],
    ["stdin and a file", "-", "{out}"],
  ])("by %s; no file is left", async (_name, input, output) => {
    expect(verifies(await (await signer(good(input, output))).sign(tbs))).toBe(true);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it("the file is its owner's alone, in a folder that is its owner's alone", async () => {
    const script = `stat -c %a "$1" "$(dirname "$1")" > ${at("modes")}; exec "$0" ${at("sign.mjs")} "$1" -`;
    await (await signer(["sh", "-c", script, process.execPath, "{in}"])).sign(tbs);
    expect(readFileSync(at("modes"), "utf8")).toBe("600\n700\n");
  });

  it("a command that does not read its input counts by its output", async () => {
    writeFileSync(at("ready.sig"), await (await signer(good())).sign(new Uint8Array(1_000_000)));
    const port = await signer(["cat", at("ready.sig")]);
    expect((await port.sign(new Uint8Array(1_000_000))).length).toBeGreaterThan(60);
  });

  it("much on stderr does not stop it", async () => {
    const script = `head -c 10000000 /dev/zero >&2; exec "$0" ${at("sign.mjs")} - -`;
    expect(verifies(await (await signer(["sh", "-c", script, process.execPath])).sign(tbs))).toBe(true);
  });

  it("arguments are no shell's", async () => {
    const port = await signer(["printf", "%s", `$(touch ${at("owned")}); \`touch ${at("owned")}\``]);
    await expect(port.sign(tbs)).rejects.toMatchObject({ kind: "unavailable" });
    expect(existsSync(at("owned"))).toBe(false);
  });
});

describe("a command that fails, with words that are fleetd's own", () => {
  it.each<[string, string[], string, string]>([
    [
      "signs other bytes",
      sh(`printf other | "${process.execPath}" ${at("sign.mjs")} - -`),
      "unavailable",
      "is not one of the issuer's",
    ],
    ["prints rubbish", sh("echo error: token not present"), "unavailable", "is not one of the issuer's"],
    ["prints nothing", ["true"], "unavailable", "a signature of 0 bytes"],
    ["exits 1", sh("echo 'no slot' >&2; exit 1"), "unavailable", "ended by 1: 8 bytes on stderr, not repeated here"],
    [
      "says what is away",
      sh("echo rv = CKR_TOKEN_NOT_PRESENT >&2; exit 1"),
      "unavailable",
      "by 1: CKR_TOKEN_NOT_PRESENT",
    ],
    ["says what is wrong", sh("echo rv = CKR_KEY_HANDLE_INVALID >&2; exit 1"), "rejected", "1: CKR_KEY_HANDLE_INVALID"],
    ["is killed", sh("kill -9 $$"), "unavailable", "ended by SIGKILL"],
    ["is not there", ["/nowhere/sign"], "rejected", "the command /nowhere/sign cannot be started: ENOENT"],
    ["may not be run", ["/etc/passwd"], "rejected", "/etc/passwd cannot be started: EACCES"],
    ["is a script whose program is not there", sh("/nowhere/sign"), "rejected", "ended by 127"],
    ["prints 10 MB", sh("head -c 10000000 /dev/zero"), "unavailable", "printed more than 4096 bytes"],
    ["writes 10 MB", sh("head -c 10000000 /dev/zero > {out}"), "unavailable", "wrote more than 4096 bytes"],
    ["writes no file", sh(": {out}"), "unavailable", "wrote no signature to {out}"],
    ["makes a pipe", sh("mkfifo {out}"), "unavailable", "what the command made of {out} is no file"],
    ["makes a folder", sh("mkdir {out}"), "unavailable", "what the command made of {out} is no file"],
    ["makes a link", sh("ln -s /dev/zero {out}"), "unavailable", "wrote no signature to {out}"],
    ["hangs", ["sleep", "60"], "unavailable", "did not end within 500 ms"],
    ["leaves another behind that holds its output", sh("sleep 60 & exit 0"), "unavailable", "a signature of 0 bytes"],
    ["stops SIGTERM", sh("trap '' TERM INT; while :; do sleep 1; done"), "unavailable", "did not end within 500 ms"],
  ])("%s", async (_name, command, kind, words) => {
    // Three times: what fails must not keep its place in the queue.
    // Who has something to say may take its time on a busy machine.
    const port = await signer(command, { timeoutMs: words.includes("500 ms") ? 500 : 10_000 });
    for (let i = 0; i < 3; i++)
      await expect(port.sign(tbs)).rejects.toMatchObject({
        kind,
        port: "signer",
        message: expect.stringContaining(words),
      });
    expect(readdirSync(scratch)).toEqual([]);
  });

  it("a signature counts though a child of the command holds its output; that child is ended", async () => {
    const script = `sleep 60 & echo $! > ${at("left")}; "$0" ${at("sign.mjs")} - -`;
    const port = await signer(["sh", "-c", script, process.execPath], { timeoutMs: 10_000 });
    expect(verifies(await port.sign(tbs))).toBe(true);
    await sleep(100);
    expect(alive(Number(readFileSync(at("left"), "utf8")))).toBe(false);
  });

  it("what hangs is killed with all that it started", async () => {
    const port = await signer(sh(`sleep 60 & echo $! $$ > ${at("pids")}; wait`), { timeoutMs: 400 });
    await expect(port.sign(tbs)).rejects.toMatchObject({ kind: "unavailable" });
    await sleep(100);
    const pids = readFileSync(at("pids"), "utf8").trim().split(" ").map(Number);
    expect(pids.length).toBe(2);
    expect(pids.filter(alive)).toEqual([]);
  });
});

describe("secrets", () => {
  it("the PIN is in the command's environment: in no argument, and fleetd's own settings are not there", async () => {
    const look = `tr '\\0' ' ' < /proc/$$/cmdline > ${at("seen-argv")}; env > ${at("seen-env")}; exit 3`;
    const port = await signer(sh(look), { pinFile: at("pin") });
    await expect(port.sign(tbs)).rejects.toThrow("ended by 3");
    expect(readFileSync(at("seen-argv"), "utf8")).not.toContain(PIN);
    const env = readFileSync(at("seen-env"), "utf8");
    expect(env).toContain(`FLEETD_PIN=${PIN}\n`);
    expect(env).not.toContain("FLEET_TEST_SECRET");
    expect(env).toMatch(/^PATH=/m);
  });

  it.each([
    ["as it is", 'printf %s "$FLEETD_PIN"'],
    ["as base64", 'printf %s "$FLEETD_PIN" | base64'],
    ["as hex", 'printf %s "$FLEETD_PIN" | od -An -tx1'],
    ["over two lines", 'printf "%.4s\\n%s\\n" "$FLEETD_PIN" "$FLEETD_PIN"'],
    ["where words are cut", 'yes x | head -n 2040; echo "$FLEETD_PIN"'],
  ])("a command that repeats the PIN %s is not repeated at all", async (_how, print) => {
    const port = await signer(sh(`{ ${print}; } >&2; ${print}; exit 1`), { pinFile: at("pin") });
    const error = await port.sign(tbs).catch((one: Error) => one);
    expect(String(error)).toMatch(
      /^PortError: signer unavailable: the command ended by 1: \d+ bytes on stderr, not repeated here$/,
    );
    expect(JSON.stringify(error)).not.toContain(PIN);
  });

  it("a PIN that the token refused is not tried again, or the token would lock itself", async () => {
    const script = `echo >> ${at("tries")}; echo "error: C_Login failed: rv = CKR_PIN_INCORRECT (0xa0)" >&2; exit 1`;
    const port = await signer(sh(script), { pinFile: at("pin") });
    for (let i = 0; i < 3; i++)
      await expect(port.sign(tbs)).rejects.toMatchObject({
        kind: "rejected",
        message: expect.stringContaining("CKR_PIN"),
      });
    expect(readFileSync(at("tries"), "utf8")).toBe("\n");
  });

  it("a PIN file that is empty or away is told by its name", async () => {
    writeFileSync(at("empty"), "\n");
    await expect((await signer(good(), { pinFile: at("empty") })).sign(tbs)).rejects.toThrow("holds no PIN");
    await expect((await signer(good(), { pinFile: at("gone") })).sign(tbs)).rejects.toThrow("cannot be read");
  });
});
