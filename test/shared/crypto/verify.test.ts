import { constants, createCipheriv, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { aesGcmOpen, aesGcmSeal } from "../../../shared/crypto/aead.ts";
import { aesCfbEncrypt } from "../../../shared/crypto/aes-cfb.ts";
import { constantTimeEqual } from "../../../shared/crypto/equal.ts";
import { digest, hmac } from "../../../shared/crypto/hash.ts";
import { type EcPublicKey, isUsableKey, leftPad, type RsaPublicKey } from "../../../shared/crypto/public-key.ts";
import { verifyEcdsa, verifyRsapss, verifyRsassa } from "../../../shared/crypto/verify.ts";
import { hex } from "../../vectors/read.ts";

const data = new TextEncoder().encode("what was signed");
const part = (text: string | undefined): Uint8Array => new Uint8Array(Buffer.from(text ?? "", "base64url"));

const rsaPair = generateKeyPairSync("rsa", { modulusLength: 2048 });
const rsaJwk = rsaPair.publicKey.export({ format: "jwk" });
const rsa: RsaPublicKey = { type: "rsa", modulus: part(rsaJwk.n), exponent: part(rsaJwk.e) };

describe("RSA", () => {
  test("RSASSA: the key's own signature, no other's, and none of another length", () => {
    const signature = sign("sha256", data, rsaPair.privateKey);
    expect(verifyRsassa(rsa, "sha256", data, signature)).toBe(true);
    expect(verifyRsassa(rsa, "sha384", data, signature)).toBe(false);
    expect(verifyRsassa(rsa, "sha256", data.subarray(1), signature)).toBe(false);
    expect(verifyRsassa(rsa, "sha256", data, Uint8Array.from([0, ...signature]))).toBe(false);
  });
  test.each([0, 32, 222])("RSAPSS with a salt of %i bytes", (saltLength) => {
    const signature = sign("sha256", data, {
      key: rsaPair.privateKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength,
    });
    expect(verifyRsapss(rsa, "sha256", data, signature)).toBe(true);
    expect(verifyRsapss(rsa, "sha256", data.subarray(1), signature)).toBe(false);
    expect(verifyRsassa(rsa, "sha256", data, signature)).toBe(false);
  });
});

describe("ECDSA", () => {
  test.each([
    ["P-256", "sha256", 32],
    ["P-384", "sha384", 48],
  ] as const)("%s: r and s may come short", (curve, hash, size) => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: curve });
    const jwk = publicKey.export({ format: "jwk" });
    const key: EcPublicKey = { type: "ec", curve, x: stripped(part(jwk.x)), y: stripped(part(jwk.y)) };
    let shortSeen = false;
    for (let i = 0; i < 2000 && !shortSeen; i++) {
      const signature = new Uint8Array(sign(hash, data, { key: privateKey, dsaEncoding: "ieee-p1363" }));
      const [r, s] = [stripped(signature.subarray(0, size)), stripped(signature.subarray(size))];
      shortSeen = r.length < size || s.length < size;
      if (shortSeen || i === 0) expect(verifyEcdsa(key, hash, data, { r, s })).toBe(true);
      if (i === 0) expect(verifyEcdsa(key, hash, data.subarray(1), { r, s })).toBe(false);
      if (i === 0) expect(verifyEcdsa(key, hash, data, { r: leftPad(r, size + 1), s })).toBe(false);
    }
    expect(shortSeen).toBe(true);
  });
  test("a point that is not on its curve is no key, and nothing is signed by it", () => {
    const off: EcPublicKey = { type: "ec", curve: "P-256", x: Uint8Array.of(1), y: Uint8Array.of(1) };
    expect(isUsableKey(off)).toBe(false);
    expect(verifyEcdsa(off, "sha256", data, { r: Uint8Array.of(1), s: Uint8Array.of(1) })).toBe(false);
  });
});

function stripped(value: Uint8Array): Uint8Array {
  let start = 0;
  while (value[start] === 0) start++;
  return value.subarray(start);
}

test("AES-GCM: what is sealed opens, and a changed bit anywhere does not", () => {
  const input = {
    key: new Uint8Array(32).fill(1),
    nonce: new Uint8Array(12).fill(2),
    associatedData: Uint8Array.of(3),
  };
  const sealed = aesGcmSeal(input, data);
  expect(sealed.length).toBe(data.length + 16);
  expect(aesGcmOpen(input, sealed)).toEqual(data);
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(aesGcmOpen(input, changed)).toBeNull();
  }
  expect(aesGcmOpen({ ...input, associatedData: Uint8Array.of(4) }, sealed)).toBeNull();
  expect(aesGcmOpen(input, sealed.subarray(0, 15))).toBeNull();
});

test("AES-CFB writes the bytes that OpenSSL writes", () => {
  for (const length of [16, 24, 32]) {
    const key = new Uint8Array(length).fill(7);
    const cipher = createCipheriv(`aes-${length * 8}-cfb`, key, new Uint8Array(16));
    expect(hex(aesCfbEncrypt(key, data))).toBe(Buffer.concat([cipher.update(data), cipher.final()]).toString("hex"));
  }
});

test("digests and HMACs are of the parts in their order", () => {
  const [a, b] = [data.subarray(0, 4), data.subarray(4)];
  expect(digest("sha256", a, b)).toEqual(digest("sha256", data));
  expect(digest("sha256")).toEqual(digest("sha256", new Uint8Array(0)));
  expect(hex(digest("sha256", new Uint8Array(0)))).toBe(
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
  // RFC 4231, test case 2.
  const words = new TextEncoder();
  expect(
    hex(hmac("sha256", words.encode("Jefe"), words.encode("what do ya want "), words.encode("for nothing?"))),
  ).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
});

test("equality is of bytes and length", () => {
  expect(constantTimeEqual(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true);
  expect(constantTimeEqual(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false);
  expect(constantTimeEqual(Uint8Array.of(1, 2), Uint8Array.of(1))).toBe(false);
});
