import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  privateDecrypt,
  randomBytes,
} from "node:crypto";
import { describe, expect, test } from "vitest";
import { wrapInstallCode } from "../../../shared/attest/code-wrap.ts";
import { makeCredential } from "../../../shared/attest/make-credential.ts";
import { hmac } from "../../../shared/crypto/hash.ts";
import { kdfa, kdfe } from "../../../shared/crypto/kdf.ts";
import { decode, encode } from "../../../shared/formats/codec.ts";
import { TPM2B_ENCRYPTED_SECRET, TPM2B_ID_OBJECT } from "../../../shared/formats/tpm2/credential.ts";
import { TPM2B_PUBLIC, TPMS_ECC_POINT, type TpmtPublic } from "../../../shared/formats/tpm2/public.ts";
import { hex, vector, vectorJson } from "../../vectors/read.ts";

interface SoftwareEk {
  ekPrivateKeyPem: string;
  akName: string;
  secretHex: string;
  tpm2ToolsCredentialBlob: string;
}

const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));

/** An EK area of the L template around a software key. */
function ekArea(key: SoftwareEk): TpmtPublic {
  const jwk = createPublicKey(key.ekPrivateKeyPem).export({ format: "jwk" });
  const part = (text: string | undefined) => new Uint8Array(Buffer.from(text ?? "", "base64url"));
  const rsa = decode(TPM2B_PUBLIC, vector("vm/lab-sb-on/ek.pub.tpm2b"), "TPM2B_PUBLIC");
  if (rsa.type !== 0x0001) throw new Error("no RSA EK");
  if (jwk.kty === "RSA") return { ...rsa, unique: part(jwk.n) };
  const { symmetric } = rsa.parameters;
  const parameters = {
    symmetric,
    scheme: { scheme: 0x0010 as const },
    curveID: 0x0003,
    kdf: { scheme: 0x0010 as const },
  };
  return { ...rsa, type: 0x0023, parameters, unique: { x: part(jwk.x), y: part(jwk.y) } };
}

/** What a TPM's ActivateCredential does, written out once more with another AES. */
function activate(key: SoftwareEk, credentialBlob: Uint8Array, secret: Uint8Array): string {
  const privateKey = createPrivateKey(key.ekPrivateKeyPem);
  const name = new Uint8Array(Buffer.from(key.akName, "hex"));
  const none = new Uint8Array(0);
  const encrypted = decode(TPM2B_ENCRYPTED_SECRET, secret, "TPM2B_ENCRYPTED_SECRET");
  const { integrityHMAC, encIdentity } = decode(TPM2B_ID_OBJECT, credentialBlob, "TPM2B_ID_OBJECT");
  const base = { hash: "sha256" as const, contextV: none };
  let seed: Uint8Array;
  if (privateKey.asymmetricKeyType === "rsa") {
    seed = privateDecrypt({ key: privateKey, oaepHash: "sha256", oaepLabel: Buffer.from("IDENTITY\0") }, encrypted);
  } else {
    const point = decode(TPMS_ECC_POINT, encrypted, "TPMS_ECC_POINT");
    const [x, y] = [point.x, point.y].map((one) => Buffer.from(one).toString("base64url"));
    const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, format: "jwk" });
    const own = createPublicKey(key.ekPrivateKeyPem).export({ format: "jwk" });
    const z = diffieHellman({ privateKey, publicKey });
    const contextV = new Uint8Array(Buffer.from(own.x ?? "", "base64url"));
    seed = kdfe(z, { ...base, label: "IDENTITY", contextU: point.x, contextV, bits: 256 });
  }
  const hmacKey = kdfa(seed, { ...base, label: "INTEGRITY", contextU: none, bits: 256 });
  expect(hex(hmac("sha256", hmacKey, encIdentity, name))).toBe(hex(integrityHMAC));
  const aesKey = kdfa(seed, { ...base, label: "STORAGE", contextU: name, bits: 128 });
  const decipher = createDecipheriv("aes-128-cfb", aesKey, Buffer.alloc(16));
  const plain = Buffer.concat([decipher.update(encIdentity), decipher.final()]);
  expect(plain.readUInt16BE(0)).toBe(plain.length - 2);
  return plain.subarray(2).toString("hex");
}

describe.each(["rsa", "ecc"])("a software EK (%s)", (kind) => {
  const key = vectorJson<SoftwareEk>(`tpmcrypto/makecredential-${kind}.json`);
  const ekPublic = encode(TPM2B_PUBLIC, ekArea(key));
  const name = new Uint8Array(Buffer.from(key.akName, "hex"));

  test("opens what tpm2_makecredential wrote: so the opening here is the TPM's", () => {
    const blob = new Uint8Array(Buffer.from(key.tpm2ToolsCredentialBlob, "base64")).subarray(8);
    const length = 2 + (blob[0] ?? 0) * 256 + (blob[1] ?? 0);
    expect(activate(key, blob.subarray(0, length), blob.subarray(length))).toBe(key.secretHex);
  });

  test("opens what makeCredential wrote, for its name alone", () => {
    const secret = random(32);
    const made = makeCredential({ ekPublic, name, secret, random });
    expect(activate(key, made.credentialBlob, made.secret)).toBe(hex(secret));
    const other = { ...key, akName: `000b${"00".repeat(32)}` };
    expect(() => activate(other, made.credentialBlob, made.secret)).toThrow();
  });

  test("opens an install code", () => {
    const code = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const made = wrapInstallCode({ ekPublic, akName: name, code, random });
    expect(Buffer.from(activate(key, made.credentialBlob, made.secret), "hex").toString()).toBe(code);
  });

  test("takes no secret that is longer than its nameAlg's digest", () => {
    expect(() => makeCredential({ ekPublic, name, secret: random(33), random })).toThrow(RangeError);
  });
});

test("sizes are those that TPMs were measured to take", () => {
  const sizes = ["ek.pub.tpm2b", "ek-ecc.pub.tpm2b"].map((file) => {
    const ekPublic = vector(`vm/lab-sb-on/${file}`);
    const made = makeCredential({ ekPublic, name: vector("vm/lab-sb-on/ak.name"), secret: random(32), random });
    return 8 + made.credentialBlob.length + made.secret.length;
  });
  expect(sizes).toEqual([336, 196]);
});

test("a key that is no storage key wraps nothing", () => {
  const ekPublic = vector("vm/lab-sb-on/ak.pub.tpm2b");
  expect(() => makeCredential({ ekPublic, name: Uint8Array.of(0), secret: random(32), random })).toThrow(RangeError);
  expect(createCipheriv("aes-128-cfb", Buffer.alloc(16), Buffer.alloc(16)).update("x").length).toBe(1);
});
