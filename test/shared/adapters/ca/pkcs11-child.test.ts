import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

// The process that talks to the token, away from fleetd's packages: without pkcs11js, or with one whose tokens are told
// by a file, for what no soft token does (a PIN with one try left, a foreign card, a call that never returns).
const FAKE = `
  const { appendFileSync, readFileSync } = require("node:fs");
  const world = JSON.parse(readFileSync(__dirname + "/world.json", "utf8"));
  const note = (name) => appendFileSync(__dirname + "/calls", name + "\\n");
  exports.PKCS11 = class {
    load() {}
    C_Initialize() {}
    C_GetSlotList() { return world.tokens.map((_, i) => Buffer.of(i)); }
    C_GetTokenInfo(slot) {
      const token = world.tokens[slot[0]];
      if (token === null) throw Object.assign(new Error("CKR_TOKEN_NOT_RECOGNIZED:225"), { code: 225 });
      return { label: token.label.padEnd(32, " "), flags: token.flags };
    }
    C_OpenSession(slot) { note("open " + slot[0]); return Buffer.of(1); }
    C_Login(session, who, pin) {
      note("login " + who);
      if (pin !== "1234") throw Object.assign(new Error("CKR_PIN_INCORRECT:160"), { code: 160 });
      if (world.hangs) for (;;);
    }
    C_FindObjectsInit() {}
    C_FindObjects() { return [Buffer.of(7)]; }
    C_FindObjectsFinal() {}
    C_GetAttributeValue() { throw Object.assign(new Error("CKR_ATTRIBUTE_TYPE_INVALID:18"), { code: 18 }); }
    C_SignInit() {}
    async C_SignAsync(session, data) { return Buffer.concat([Buffer.from("signed "), data]); }
  };`;

let folder: string;
let child: ChildProcess | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetd-child-"));
  for (const name of ["pkcs11-child.ts", "pkcs11-token.ts", "pkcs11-watch.ts"])
    cpSync(join("shared/adapters/ca", name), join(folder, name));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "pin"), "1234\nnot the PIN\n");
});
afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const packages = () => join(folder, "node_modules/pkcs11js");
function withTokens(tokens: readonly ({ label: string; flags: number } | null)[], more: object = {}): void {
  mkdirSync(packages(), { recursive: true });
  writeFileSync(join(packages(), "package.json"), '{"main":"index.js"}');
  writeFileSync(join(packages(), "index.js"), FAKE);
  writeFileSync(join(packages(), "world.json"), JSON.stringify({ tokens, ...more }));
}
const alive = (pid: number) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
const calls = () => (existsSync(join(packages(), "calls")) ? readFileSync(join(packages(), "calls"), "utf8") : "");

function launch(): ChildProcess {
  const target = { module: "module.so", token: "fleetd", keyLabel: "issuer", pinFile: join(folder, "pin") };
  child = fork(join(folder, "pkcs11-child.ts"), [JSON.stringify(target)], {
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  return child;
}
async function ask(of = launch()): Promise<unknown> {
  of.send({ mechanism: 0x1041, data: Uint8Array.of(0x21) });
  return (await once(of, "message"))[0];
}

it("without pkcs11js it says so by its name", async () => {
  expect(await ask()).toMatchObject({
    kind: "rejected",
    pin: false,
    error: expect.stringContaining("pkcs11js is not installed"),
  });
});

describe("the PIN", () => {
  it.each([
    ["has one try left", 0x20000, "one try of its PIN left"],
    ["is locked", 0x40000, "PIN is locked"],
  ])("of a token that %s is not tried", async (_name, flags, words) => {
    withTokens([{ label: "fleetd", flags }]);
    expect(await ask()).toMatchObject({ kind: "rejected", pin: true, error: expect.stringContaining(words) });
    expect(calls()).toBe("");
  });

  it("is tried when the count is merely low, and is the first line of its file", async () => {
    withTokens([{ label: "fleetd", flags: 0x10000 }]);
    const answer = await ask();
    expect(Buffer.from((answer as { signature: Uint8Array }).signature).toString()).toBe("signed !");
    expect(calls()).toBe("open 0\nlogin 1\n");
  });

  it("that is refused is told as the PIN's fault, without it", async () => {
    withTokens([{ label: "fleetd", flags: 0 }]);
    writeFileSync(join(folder, "pin"), "4321\n");
    const answer = await ask();
    expect(answer).toEqual({
      ...{ kind: "rejected", pin: true, error: "the token does not take the PIN: CKR_PIN_INCORRECT" },
    });
  });

  it("that is empty is not tried", async () => {
    withTokens([{ label: "fleetd", flags: 0 }]);
    writeFileSync(join(folder, "pin"), "\n");
    expect(await ask()).toMatchObject({ kind: "rejected", error: expect.stringContaining("holds no PIN") });
    expect(calls()).not.toContain("login");
  });
});

describe("tokens", () => {
  it("a foreign card in another reader is passed by", async () => {
    withTokens([null, { label: "other", flags: 0 }, { label: "fleetd", flags: 0 }]);
    expect(await ask()).toMatchObject({ signature: expect.anything() });
    expect(calls()).toBe("open 2\nlogin 1\n");
  });

  it("two of one label are not chosen between", async () => {
    withTokens([
      { label: "fleetd", flags: 0 },
      { label: "fleetd", flags: 0 },
    ]);
    expect(await ask()).toMatchObject({ kind: "rejected", error: "2 tokens have the label fleetd" });
    expect(calls()).toBe("");
  });
});

it("ends when fleetd was killed, also while a call of the module hangs", async () => {
  withTokens([{ label: "fleetd", flags: 0 }], { hangs: true });
  const parent = `
    import { fork } from "node:child_process";
    const target = ${JSON.stringify({ module: "module.so", token: "fleetd", keyLabel: "issuer", pinFile: join(folder, "pin") })};
    const child = fork(${JSON.stringify(join(folder, "pkcs11-child.ts"))}, [JSON.stringify(target), String(process.pid)], {
      execArgv: [], serialization: "advanced", stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.send({ mechanism: 1, data: Uint8Array.of(1) });
    process.stdout.write(String(child.pid));`;
  child = spawn(process.execPath, ["--input-type=module", "-e", parent], { stdio: ["ignore", "pipe", "inherit"] });
  const pid = Number(await once(child.stdout as Readable, "data"));
  while (!calls().endsWith("login 1\n")) await sleep(10);
  await sleep(300);
  expect(alive(pid)).toBe(true);
  child.kill("SIGKILL");
  for (let i = 0; i < 100 && alive(pid); i++) await sleep(50);
  expect(alive(pid)).toBe(false);
});

it("ends when fleetd is gone, and with it a login that hangs ends by a kill", async () => {
  withTokens([{ label: "fleetd", flags: 0 }]);
  const idle = launch();
  await ask(idle);
  const ended = once(idle, "exit");
  idle.disconnect();
  expect((await ended)[1]).toBe("SIGKILL");
  withTokens([{ label: "fleetd", flags: 0 }], { hangs: true });
  const hung = launch();
  hung.send({ mechanism: 1, data: Uint8Array.of(1) });
  while (!calls().endsWith("login 1\nopen 0\nlogin 1\n")) await sleep(10);
  const killed = once(hung, "exit");
  hung.kill("SIGKILL");
  expect((await killed)[1]).toBe("SIGKILL");
});
