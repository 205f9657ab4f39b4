import { createPrivateKey, generateKeyPairSync, type KeyObject, sign, verify, X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { checkedSigner, probeSigner } from "../../../../shared/adapters/ca/checked.ts";
import { readIssuer } from "../../../../shared/adapters/ca/issuer.ts";
import { PortError } from "../../../../shared/ports/error.ts";
import { fakeAuthority } from "../../../fakes/authority.ts";

const authority = fakeAuthority("Issuer");
const key = createPrivateKey(authority.keyPem);
const issuer = readIssuer({ chainFile: "chain" }, { chain: authority.pem });
const tbs = new Uint8Array(500).fill(7);
const raw = (bytes: Uint8Array, by: KeyObject = key) => sign("sha256", bytes, { key: by, dsaEncoding: "ieee-p1363" });
const answers = (make: (bytes: Uint8Array) => Uint8Array) => checkedSigner(issuer, async (bytes) => make(bytes));
const verifies = (signature: Uint8Array) =>
  verify("sha256", tbs, new X509Certificate(authority.pem).publicKey, signature);

describe("a signature in whatever form", () => {
  it.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ["DER", (bytes) => sign("sha256", bytes, key)],
    ["r and s", raw],
    ["base64 of DER, with line ends", (bytes) => Buffer.from(`${sign("sha256", bytes, key).toString("base64")}\r\n`)],
    ["base64 of r and s", (bytes) => Buffer.from(raw(bytes).toString("base64"))],
  ])("%s comes out as DER", async (_name, make) => {
    expect(verifies(await answers(make).sign(tbs))).toBe(true);
  });

  it("of P-384 too", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
    const larger = { ...issuer, algorithm: "ecdsa-sha384", publicKey } as const;
    const by = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
    const signature = await checkedSigner(larger, async (bytes) => sign("sha384", bytes, by)).sign(tbs);
    expect(verify("sha384", tbs, publicKey, signature)).toBe(true);
  });

  it("r or s that begin with zeros or a high bit are minimal in DER", async () => {
    let seen = 0;
    for (let i = 0; i < 400; i++) {
      const signature = await answers(raw).sign(tbs);
      expect(verifies(signature)).toBe(true);
      if (signature.length < 70 || signature.length > 71) seen++;
    }
    expect(seen).toBeGreaterThan(0);
  });
});

describe("what is no signature of the issuer's key over these bytes", () => {
  const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  it.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ["other bytes", () => sign("sha256", Buffer.from("others"), key)],
    ["another key", (bytes) => sign("sha256", bytes, stranger)],
    ["another hash", (bytes) => sign("sha384", bytes, key)],
    ["a byte behind it", (bytes) => Buffer.concat([sign("sha256", bytes, key), Buffer.of(0)])],
    ["a byte short", (bytes) => raw(bytes).subarray(1)],
    ["zeros", () => new Uint8Array(64)],
    ["nothing", () => new Uint8Array(0)],
    ["rubbish", () => Buffer.from("error: no such key\n")],
  ])("%s: unavailable, told by its size alone", async (_name, make) => {
    await expect(answers(make).sign(tbs)).rejects.toMatchObject({
      kind: "unavailable",
      port: "signer",
      message: expect.stringMatching(/a signature of \d+ bytes is not one of the issuer's key/),
    });
  });
});

it("signs no more when the issuer's certificate has expired", async () => {
  let asked = 0;
  const late = checkedSigner(
    issuer,
    async (bytes) => {
      asked++;
      return raw(bytes);
    },
    () => issuer.notAfterMs,
  );
  await expect(late.sign(tbs)).rejects.toMatchObject({ kind: "rejected", message: expect.stringContaining("expired") });
  expect(asked).toBe(0);
});

it("any other failure of a back end is unavailable too", async () => {
  const full = checkedSigner(issuer, async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  });
  await expect(full.sign(tbs)).rejects.toMatchObject({
    kind: "unavailable",
    port: "signer",
    message: expect.stringContaining("ENOSPC"),
  });
});

it("asks at the start by bytes that are no TBSCertificate; tells who is away, throws what a person must mend", async () => {
  let first = -1;
  const good = answers((bytes) => {
    first = bytes[0] ?? -1;
    return raw(bytes);
  });
  expect(await probeSigner(good)).toBeNull();
  expect(first).not.toBe(0x30);
  const failing = (kind: "unavailable" | "rejected") =>
    answers(() => {
      throw new PortError(kind, "signer", "the token");
    });
  expect(await probeSigner(failing("unavailable"))).toBe("signer unavailable: the token");
  await expect(probeSigner(failing("rejected"))).rejects.toMatchObject({ kind: "rejected" });
  const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  for (const make of [(bytes: Uint8Array) => raw(bytes, stranger), () => Buffer.from("no such key")])
    await expect(probeSigner(answers(make))).rejects.toMatchObject({
      kind: "rejected",
      message: expect.stringMatching(/^signer rejected: a signature of \d+ bytes is not one of the issuer's key/),
    });
});
