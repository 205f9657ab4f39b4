import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeyFileSigner } from "../../../../shared/adapters/ca/key-file.ts";

const folder = mkdtempSync(join(tmpdir(), "fleetd-ca-"));
const at = (name: string) => join(folder, name);
const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" }).toString();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keys: readonly [name: string, algorithm: string, how: string[]][] = [
  ["p256", "ecdsa-sha256", ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]],
  ["p384", "ecdsa-sha384", ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"]],
  ["rsa", "rsa-sha256", ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]],
];
const ca = ["-addext", "basicConstraints=critical,CA:TRUE"];

beforeAll(() => {
  for (const [name, , how] of [...keys, ["p521", "", ["EC", "-pkeyopt", "ec_paramgen_curve:P-521"]] as const]) {
    openssl("genpkey", "-algorithm", ...how, "-out", `${name}.key`);
    openssl(
      "req",
      "-x509",
      "-new",
      "-key",
      `${name}.key`,
      "-subj",
      `/CN=${name}`,
      "-days",
      "30",
      "-out",
      `${name}.pem`,
    );
  }
  openssl("req", "-new", "-key", "p256.key", "-subj", "/CN=issuing", "-out", "issuing.csr", ...ca);
  const by = ["-CA", "rsa.pem", "-CAkey", "rsa.key", "-copy_extensions", "copyall"];
  openssl("x509", "-req", "-in", "issuing.csr", ...by, "-days", "30", "-out", "issuing.pem");
  openssl(
    "req",
    "-x509",
    "-new",
    "-key",
    "p256.key",
    "-subj",
    "/CN=leaf",
    "-addext",
    "basicConstraints=CA:FALSE",
    "-out",
    "leaf.pem",
  );
  openssl("pkcs8", "-topk8", "-in", "p256.key", "-passout", "pass:hunter2", "-out", "locked.key");
  const text = (name: string) => readFileSync(at(name), "utf8");
  writeFileSync(at("chain.pem"), `the issuer\n${text("issuing.pem")}${text("rsa.pem")}`);
  writeFileSync(at("wrong-order.pem"), `${text("issuing.pem")}${text("p384.pem")}`);
  writeFileSync(at("empty.pem"), "");
  writeFileSync(at("bundle.pem"), `${text("p384.pem")}older\n${text("issuing.pem")}${text("rsa.pem")}`);
  writeFileSync(at("leaf-in-it.pem"), `${text("p384.pem")}${text("leaf.pem")}`);
  writeFileSync(at("cut-short.pem"), `${text("p384.pem")}${text("rsa.pem").slice(0, 300)}\n${text("p256.pem")}`);
  const behind = Buffer.concat([new X509Certificate(text("rsa.pem")).raw, Buffer.of(0)]).toString("base64");
  writeFileSync(
    at("a-byte-more.pem"),
    `${text("p384.pem")}-----BEGIN CERTIFICATE-----\n${behind}\n-----END CERTIFICATE-----\n`,
  );
});

const signer = (key: string, chain: string, bundle?: string) =>
  createKeyFileSigner({
    keyFile: at(key),
    chainFile: at(chain),
    ...(bundle === undefined ? {} : { bundleFile: at(bundle) }),
  });

describe("signing", () => {
  it.each(keys)("%s signs as %s, and OpenSSL verifies it", async (name, algorithm) => {
    const port = await signer(`${name}.key`, `${name}.pem`);
    expect(await port.algorithm()).toBe(algorithm);
    const tbs = Uint8Array.from({ length: 700 }, (_, i) => i % 251);
    writeFileSync(at(`${name}.tbs`), tbs);
    writeFileSync(at(`${name}.sig`), await port.sign(tbs));
    writeFileSync(at(`${name}.pub`), openssl("x509", "-in", `${name}.pem`, "-noout", "-pubkey"));
    const hash = algorithm.endsWith("384") ? "-sha384" : "-sha256";
    const verified = openssl("dgst", hash, "-verify", `${name}.pub`, "-signature", `${name}.sig`, `${name}.tbs`);
    expect(verified.trim()).toBe("Verified OK");
  });

  it("gives the issuer's certificate first, then its chain", async () => {
    const ders = await (await signer("p256.key", "chain.pem")).chain();
    expect(ders.map((der) => new X509Certificate(der).subject)).toEqual(["CN=issuing", "CN=rsa"]);
  });

  it("trusts its own issuer first, then those of the bundle, each once", async () => {
    const subjects = async (bundle?: string) =>
      (await (await signer("p256.key", "chain.pem", bundle)).trusted()).map((der) => new X509Certificate(der).subject);
    expect(await subjects()).toEqual(["CN=issuing"]);
    expect(await subjects("bundle.pem")).toEqual(["CN=issuing", "CN=p384", "CN=rsa"]);
  });
});

describe("refused at the start", () => {
  it.each([
    ["a key of another certificate", "p256.key", "p384.pem", "not of the key"],
    ["a chain that does not follow", "p256.key", "wrong-order.pem", "did not issue"],
    ["a certificate that is no CA", "p256.key", "leaf.pem", "no CA"],
    ["no certificate", "p256.key", "empty.pem", "no certificates"],
    ["a certificate for a key", "p256.pem", "p256.pem", "no private key"],
    ["a key under a passphrase", "locked.key", "p256.pem", "passphrase"],
    ["a curve that is not used", "p521.key", "p521.pem", "must be EC"],
    ["a file that is not there", "gone.key", "p256.pem", "ENOENT"],
  ])("%s", async (_name, key, chain, words) => {
    await expect(signer(key, chain)).rejects.toMatchObject({
      kind: "rejected",
      port: "signer",
      message: expect.stringContaining(words),
    });
  });

  it.each([
    ["no CA", "leaf-in-it.pem", "leaf-in-it.pem: certificate 2 is no CA"],
    ["a block that was cut short", "cut-short.pem", "cut-short.pem: certificate 2 is broken"],
    ["a byte behind a certificate", "a-byte-more.pem", "a-byte-more.pem: certificate 2 is broken"],
    ["nothing", "empty.pem", "empty.pem: no certificates"],
    ["a file that is not there", "gone.pem", "gone.pem: ENOENT"],
  ])("a bundle with %s, by its file and position", async (_name, bundle, words) => {
    await expect(signer("p256.key", "p256.pem", bundle)).rejects.toMatchObject({
      kind: "rejected",
      message: expect.stringContaining(words),
    });
  });
});
