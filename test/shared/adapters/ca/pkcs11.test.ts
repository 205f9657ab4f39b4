import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { probeSigner } from "../../../../shared/adapters/ca/checked.ts";
import { createPkcs11Signer, type Pkcs11Options } from "../../../../shared/adapters/ca/pkcs11.ts";
import { IssuerFiles } from "../../../contracts/issuer-files.ts";
import { SoftHsm } from "../../../contracts/soft-hsm.ts";

const tbs = new Uint8Array(600).fill(3);
let files: IssuerFiles;
let hsm: SoftHsm;

beforeAll(() => {
  files = new IssuerFiles();
  hsm = new SoftHsm();
  hsm.import(files.at("p256.key"), "issuer", "01");
  hsm.import(files.at("p384.key"), "twice", "02");
  hsm.import(files.at("rsa.key"), "twice", "03");
  const spki = hsm.generateAlwaysAuthenticating("signature key", "9c");
  writeFileSync(files.at("always.der"), spki);
  const forced = ["-new", "-force_pubkey", "always.der", "-keyform", "DER", "-subj", "/CN=Issuer on a token"];
  const by = ["-CA", "p256.pem", "-CAkey", "p256.key", "-days", "30", "-extfile", "ca.cnf", "-out", "always.pem"];
  writeFileSync(files.at("ca.cnf"), "basicConstraints=critical,CA:TRUE\n");
  files.openssl("x509", ...forced, ...by);
});
afterAll(() => {
  hsm.remove();
  files.remove();
});

const signer = (change: Partial<Pkcs11Options> = {}) =>
  createPkcs11Signer({
    module: hsm.module,
    token: hsm.token,
    keyLabel: "issuer",
    pinFile: hsm.pinFile,
    chainFile: files.at("p256.pem"),
    timeoutMs: 10_000,
    queue: { concurrency: 1, maxWaiting: 10, waitMs: 30_000 },
    ...change,
  });

/** Processes of tokens that this one started. */
function children(): { pid: number; command: string; environment: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        if (Number(parent) !== process.pid || !command.includes("pkcs11-child")) return [];
        return [{ pid: Number(pid), command, environment: readFileSync(`/proc/${pid}/environ`, "utf8") }];
      } catch {
        return [];
      }
    });
}

beforeEach(() => {
  for (const { pid } of children()) process.kill(pid, "SIGKILL");
});
const soonest = async () => {
  for (let i = 0; i < 100 && children().length > 0; i++) await sleep(10);
};

describe("a token", () => {
  it("serves many signatures by one session", async () => {
    const port = await signer();
    await port.sign(tbs);
    const [first] = children();
    for (let i = 0; i < 5; i++) await port.sign(tbs);
    expect(children().map(({ pid }) => pid)).toEqual([first?.pid]);
  });

  it("that was pulled out: unavailable; put back: its session is opened anew", async () => {
    const port = await signer();
    await port.sign(tbs);
    hsm.pullOut();
    for (let i = 0; i < 2; i++) await expect(port.sign(tbs)).rejects.toMatchObject({ kind: "unavailable" });
    hsm.putBack();
    expect((await port.sign(tbs)).length).toBeGreaterThan(60);
  });

  it("that was away at the start is taken when it is there", async () => {
    hsm.pullOut();
    const port = await signer();
    await expect(port.sign(tbs)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("no token with the label fleetd issuer"),
    });
    hsm.putBack();
    expect((await port.sign(tbs)).length).toBeGreaterThan(60);
  });

  it("whose key asks for the PIN each time signs again and again", async () => {
    const port = await signer({ keyLabel: undefined, keyId: "9c", chainFile: files.at("always.pem") });
    for (let i = 0; i < 3; i++) expect((await port.sign(tbs)).length).toBeGreaterThan(60);
  });
});

describe("what a person must mend", () => {
  it.each<[string, Partial<Pkcs11Options>, string]>([
    ["no key of the label", { keyLabel: "nobody" }, "no such private key"],
    ["two keys of the label", { keyLabel: "twice" }, "give label and id"],
    ["label and id of two keys", { keyLabel: "issuer", keyId: "02" }, "no such private key"],
    ["a PIN file that is away", { pinFile: "/nowhere/pin" }, "/nowhere/pin cannot be read"],
  ])("%s", async (_name, change, words) => {
    await expect((await signer(change)).sign(tbs)).rejects.toMatchObject({
      kind: "rejected",
      message: expect.stringContaining(words),
    });
  });

  it("label and id tell keys apart", async () => {
    const port = await signer({ keyLabel: "twice", keyId: "03", chainFile: files.at("rsa.pem") });
    expect((await port.sign(tbs)).length).toBe(256);
  });

  it("another key than the certificate's signs nothing that is handed out", async () => {
    await expect((await signer({ keyLabel: "twice", keyId: "02" })).sign(tbs)).rejects.toThrow(
      "is not one of the issuer's key",
    );
    await expect(probeSigner(await signer({ keyLabel: "twice", keyId: "02" }))).rejects.toMatchObject({
      kind: "rejected",
    });
  });

  it("a wrong PIN is tried once, however often and by how many signatures are asked, and is in no message", async () => {
    const pinFile = join(hsm.folder, "wrong");
    writeFileSync(pinFile, "0000-wrong\n");
    const port = await signer({ pinFile, queue: { concurrency: 4, maxWaiting: 10, waitMs: 30_000 } });
    const all = await Promise.allSettled(Array.from({ length: 6 }, () => port.sign(tbs)));
    for (const one of all)
      expect(one).toMatchObject({
        reason: { kind: "rejected", message: expect.stringContaining("CKR_PIN_INCORRECT") },
      });
    expect(JSON.stringify(all.map((one) => String("reason" in one && one.reason)))).not.toContain("0000-wrong");
    // Even when the file is mended: nothing is asked of the token before a restart.
    writeFileSync(pinFile, readFileSync(hsm.pinFile));
    await soonest();
    await expect(port.sign(tbs)).rejects.toMatchObject({ kind: "rejected" });
    expect(children()).toEqual([]);
    expect((await (await signer({ pinFile })).sign(tbs)).length).toBeGreaterThan(60);
  });
});

describe("a module that misbehaves", () => {
  it("hangs: the time limit holds, the process goes on meanwhile, and the next signature is made", async () => {
    // A busy machine needs more than a second to start the next process.
    const port = await signer({ timeoutMs: 2_500 });
    await port.sign(tbs);
    const [child] = children();
    process.kill(child?.pid ?? 0, "SIGSTOP");
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    await expect(port.sign(tbs)).rejects.toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("no answer within 2500 ms"),
    });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(20);
    expect((await port.sign(tbs)).length).toBeGreaterThan(60);
    expect(children().map(({ pid }) => pid)).not.toContain(child?.pid);
  }, 20_000);

  it.each(["SIGSEGV", "SIGKILL"] as const)("dies by %s: the signature is made by a new process", async (signal) => {
    const port = await signer();
    await port.sign(tbs);
    const [child] = children();
    process.kill(child?.pid ?? 0, signal);
    expect((await port.sign(tbs)).length).toBeGreaterThan(60);
  });

  it("is no module at all", async () => {
    await expect((await signer({ module: files.at("p256.pem") })).sign(tbs)).rejects.toMatchObject({
      kind: "rejected",
      message: expect.stringContaining("p256.pem is no PKCS#11 module"),
    });
  });
});

it("the PIN is in no argument and no environment of the token's process, and fleetd's settings are not there", async () => {
  process.env.FLEET_TEST_SECRET = "not for others";
  await (await signer()).sign(tbs);
  delete process.env.FLEET_TEST_SECRET;
  const pin = readFileSync(hsm.pinFile, "utf8").trim();
  const [child] = children();
  expect(child?.command).toContain(hsm.pinFile);
  expect(child?.command).not.toContain(pin);
  expect(child?.environment).toContain("SOFTHSM2_CONF=");
  expect(child?.environment).not.toContain(pin);
  expect(child?.environment).not.toContain("FLEET_TEST_SECRET");
});
