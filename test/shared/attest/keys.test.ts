import { describe, expect, test } from "vitest";
import {
  judgeAk,
  judgeEk,
  judgeLdevid,
  publicKeyOf,
  readEitherPublic,
  readPublic,
} from "../../../shared/attest/keys.ts";
import { recordedKey } from "../../../shared/attest/recorded-key.ts";
import { signatureProblem } from "../../../shared/attest/signature.ts";
import { messageProblem } from "../../../shared/attest/verify.ts";
import { encode } from "../../../shared/formats/codec.ts";
import { der, TAG } from "../../../shared/formats/der.ts";
import { nullValue, oid, sequence, unsignedInteger } from "../../../shared/formats/der-write.ts";
import { TPM2B_PUBLIC, TPMT_PUBLIC, type TpmtPublic } from "../../../shared/formats/tpm2/public.ts";
import { encodeSpki } from "../../../shared/formats/x509/spki.ts";
import { writeTime } from "../../../shared/formats/x509/time.ts";
import { hex, vector } from "../../vectors/read.ts";
import { ecKey, rsaKey, type SoftKey } from "./soft-key.ts";

const data = new TextEncoder().encode("a statement");

describe("signatures by each scheme and hash that a TPM has", () => {
  const keys: [string, SoftKey][] = [
    ["RSASSA SHA-256", rsaKey("rsassa", "sha256")],
    ["RSASSA SHA-512", rsaKey("rsassa", "sha512")],
    ["RSAPSS SHA-256", rsaKey("rsapss", "sha256")],
    ["RSAPSS SHA-384", rsaKey("rsapss", "sha384")],
    ["ECDSA P-256", ecKey("P-256", "sha256")],
    ["ECDSA P-384", ecKey("P-384", "sha384")],
  ];
  test.each(keys)("%s", (_, key) => {
    expect(judgeAk(key.area)).toBeNull();
    const signature = key.sign(data);
    expect(signatureProblem(key.area, data, signature)).toBeNull();
    expect(signatureProblem(key.area, data.subarray(1), signature)).toBe("not this key's signature");
    expect(signatureProblem(key.area, data, signature.subarray(0, -1))).toMatch(/truncated/);
    for (const [, other] of keys) {
      if (other !== key) expect(signatureProblem(other.area, data, signature)).not.toBeNull();
    }
  });
  test("a scheme that the key does not declare, though the key could", () => {
    const key = rsaKey("rsapss", "sha256");
    if (key.area.type !== 0x0001) throw new Error("no RSA key");
    const area: TpmtPublic = {
      ...key.area,
      parameters: { ...key.area.parameters, scheme: { scheme: 0x0014, hashAlg: 0x000b } },
    };
    expect(signatureProblem(area, data, key.sign(data))).toMatch(/does not declare/);
  });
  test("SHA-1 is no hash to sign by", () => {
    const key = rsaKey("rsassa", "sha1");
    expect(signatureProblem(key.area, data, key.sign(data))).toBe("hash 0x4");
  });
});

describe("keys that are no AK", () => {
  const key = ecKey("P-256", "sha256");
  const area = key.area;
  const seen = (changed: TpmtPublic) => judgeAk(changed)?.check.seen;
  const flag = (name: keyof TpmtPublic["objectAttributes"], on: boolean): TpmtPublic => ({
    ...area,
    objectAttributes: { ...area.objectAttributes, [name]: on },
  });
  test.each([
    ["fixedTPM", false],
    ["fixedParent", false],
    ["sensitiveDataOrigin", false],
    ["restricted", false],
    ["sign", false],
    ["decrypt", true],
  ] as const)("%s: %s", (name, on) => {
    expect(judgeAk(flag(name, on))?.code).toBe("ak-attributes");
  });
  test("the LDevID is the same, but not restricted", () => {
    expect(judgeLdevid(flag("restricted", false))).toBeNull();
    expect(judgeLdevid(area)?.code).toBe("ldevid-attributes");
    expect(judgeLdevid({ ...flag("restricted", false), nameAlg: 0x0004 })?.code).toBe("ldevid-attributes");
  });
  test("hashes, sizes and curves that are too weak or unknown", () => {
    expect(seen({ ...area, nameAlg: 0x0004 })).toBe("nameAlg 0x4");
    expect(seen({ ...area, nameAlg: 0x0012 })).toBe("nameAlg 0x12");
    expect(seen(rsaKey("rsassa", "sha1").area)).toBe("scheme hash 0x4");
    expect(seen(rsaKey("rsassa", "sha256", 1024).area)).toBe("RSA of 1024 bits");
    expect(seen(ecKey("P-521", "sha512").area)).toBe("curve 0x5");
  });
  test("a key without a scheme, with a cipher, with another exponent, with another length than it says", () => {
    if (area.type !== 0x0023) throw new Error("no ECC key");
    expect(seen({ ...area, parameters: { ...area.parameters, scheme: { scheme: 0x0010 } } })).toMatch(
      /no signature scheme/,
    );
    expect(seen({ ...area, parameters: { ...area.parameters, scheme: { scheme: 0x0019, hashAlg: 0x000b } } })).toMatch(
      /no signature scheme/,
    );
    const cipher = { algorithm: 0x0006, keyBits: 128, mode: 0x0043 } as const;
    expect(seen({ ...area, parameters: { ...area.parameters, symmetric: cipher } })).toMatch(/symmetric/);
    const rsa = rsaKey("rsassa", "sha256").area;
    if (rsa.type !== 0x0001) throw new Error("no RSA key");
    expect(seen({ ...rsa, parameters: { ...rsa.parameters, exponent: 3 } })).toBe("exponent 3");
    expect(seen({ ...rsa, parameters: { ...rsa.parameters, keyBits: 3072 } })).toBe("modulus of another length");
  });
  test("a point that is not on its curve", () => {
    if (area.type !== 0x0023) throw new Error("no ECC key");
    expect(seen({ ...area, unique: { x: area.unique.x, y: area.unique.x } })).toBe("no usable key");
  });
});

describe("EK templates", () => {
  const rsa = readPublic(vector("vm/lab-sb-on/ek.pub.tpm2b"));
  const ecc = readPublic(vector("vm/lab-sb-on/ek-ecc.pub.tpm2b"));
  test.each([rsa, ecc])("a real EK's, and every change of it refused", (area) => {
    expect(judgeEk(area)).toBeNull();
    const changed: TpmtPublic[] = [
      { ...area, nameAlg: 0x000d },
      { ...area, authPolicy: new Uint8Array(32) },
      { ...area, objectAttributes: { ...area.objectAttributes, sign: true } },
      { ...area, objectAttributes: { ...area.objectAttributes, fixedTPM: false } },
      { ...area, objectAttributes: { ...area.objectAttributes, userWithAuth: !area.objectAttributes.userWithAuth } },
    ];
    for (const one of changed) expect(judgeEk(one)?.code).toBe("ek-template");
  });
  test("an AK is no EK", () =>
    expect(judgeEk(readPublic(vector("vm/lab-sb-on/ak.pub.tpm2b")))?.code).toBe("ek-template"));
});

test("an area is read with its size or without", () => {
  const bytes = vector("vm/lab-sb-on/ak.pub.tpm2b");
  const bare = encode(TPMT_PUBLIC, readPublic(bytes));
  expect(readEitherPublic(bare)).toEqual(readEitherPublic(bytes));
});

test("exponent 0 stands for 65537, and others are what they are", () => {
  const area = readPublic(vector("vm/lab-sb-on/ak.pub.tpm2b"));
  if (area.type !== 0x0001) throw new Error("no RSA key");
  const exponent = (value: number) => {
    const key = publicKeyOf({ ...area, parameters: { ...area.parameters, exponent: value } });
    return key?.type === "rsa" ? hex(key.exponent) : null;
  };
  expect([exponent(0), exponent(65_537), exponent(3)]).toEqual(["010001", "010001", "03"]);
});

describe("the key of a recorded certificate", () => {
  const keys = [
    rsaKey("rsassa", "sha256"),
    rsaKey("rsapss", "sha256"),
    ecKey("P-256", "sha256"),
    ecKey("P-384", "sha384"),
  ];
  const certificate = (key: SoftKey): Uint8Array => {
    const publicKey = publicKeyOf(key.area);
    if (!publicKey) throw new Error("no key");
    const algorithm = sequence(oid("1.2.840.10045.4.3.2"));
    const validity = sequence(writeTime(0), writeTime(1));
    const tbs = sequence(
      unsignedInteger(Uint8Array.of(1)),
      algorithm,
      sequence(),
      validity,
      sequence(),
      encodeSpki(publicKey),
    );
    return sequence(tbs, algorithm, der(TAG.BIT_STRING, Uint8Array.of(0)));
  };
  test.each(keys.map((key) => [key]))("verifies what the key signed", (key) => {
    const signature = key.sign(data);
    const area = recordedKey("lak", certificate(key), signature);
    if (!area) throw new Error("no area");
    expect(judgeAk(readPublic(area))).toBeNull();
    expect(signatureProblem(readPublic(area), data, signature)).toBeNull();
    const ldevid = recordedKey("ldevid", certificate(key), signature);
    expect(ldevid && messageProblem("renewal-signature-invalid", ldevid, data, signature)).toBeNull();
    expect(ldevid && messageProblem("renewal-signature-invalid", ldevid, data.subarray(1), signature)?.code).toBe(
      "renewal-signature-invalid",
    );
    expect(ldevid && judgeLdevid(readPublic(ldevid))).toBeNull();
  });
  test("a signature of another kind, or none, or no certificate", () => {
    const [rsa, , ec] = keys;
    if (!rsa || !ec) throw new Error("keys wanted");
    expect(recordedKey("lak", certificate(rsa), ec.sign(data))).toBeNull();
    expect(recordedKey("lak", certificate(ec), rsa.sign(data))).toBeNull();
    expect(recordedKey("lak", certificate(ec), Uint8Array.of(0))).toBeNull();
    expect(recordedKey("lak", nullValue(), ec.sign(data))).toBeNull();
    expect(encode(TPM2B_PUBLIC, ec.area)).toEqual(ec.public);
  });
});
