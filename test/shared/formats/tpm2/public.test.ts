import { createPublicKey } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decode, encode } from "../../../../shared/formats/codec.ts";
import { FormatError } from "../../../../shared/formats/error.ts";
import { TPMS_ATTEST } from "../../../../shared/formats/tpm2/attest.ts";
import { TPM2B_PUBLIC, TPMA_OBJECT } from "../../../../shared/formats/tpm2/public.ts";
import { TPMT_SIGNATURE } from "../../../../shared/formats/tpm2/signature.ts";
import { hex, vector, vectorText } from "../../../vectors/read.ts";
import { fiveParts, refusedAs } from "../five-parts.ts";

const ak = vector("vm/lab-sb-on/ak.pub.tpm2b");
const ldevid = vector("vm/lab-sb-on/ldevid.pub.tpm2b");
const rsaEk = vector("vm/lab-sb-on/ek.pub.tpm2b");
const eccEk = vector("vm/lab-sb-on/ek-ecc.pub.tpm2b");

fiveParts("TPM2B_PUBLIC", TPM2B_PUBLIC, {
  "an RSA AK": ak,
  "an ECC LDevID": ldevid,
  "an RSA EK": rsaEk,
  "an ECC EK": eccEk,
});

test("every field of an RSA AK", () => {
  const read = decode(TPM2B_PUBLIC, ak, "TPM2B_PUBLIC");
  if (read.type !== 0x0001) throw new Error("no RSA key");
  const jwk = createPublicKey(vectorText("vm/lab-sb-on/ak.pub.pem")).export({ format: "jwk" });
  expect(hex(read.unique)).toBe(Buffer.from(jwk.n ?? "", "base64url").toString("hex"));
  expect(read.nameAlg).toBe(0x000b);
  expect(hex(read.authPolicy)).toBe("");
  expect(read.parameters).toEqual({
    symmetric: { algorithm: 0x0010 },
    scheme: { scheme: 0x0014, hashAlg: 0x000b },
    keyBits: 2048,
    exponent: 0,
  });
  const set = Object.entries(read.objectAttributes).flatMap(([name, on]) => (on ? [name] : []));
  expect(set).toEqual(["fixedTPM", "fixedParent", "sensitiveDataOrigin", "userWithAuth", "restricted", "sign"]);
});

test("every field of an ECC EK of the high range", () => {
  const read = decode(TPM2B_PUBLIC, eccEk, "TPM2B_PUBLIC");
  if (read.type !== 0x0023) throw new Error("no ECC key");
  expect(read.nameAlg).toBe(0x000c);
  expect(hex(read.authPolicy)).toBe(
    "b26e7d28d11a50bc53d882bcf5fd3a1a074148bb35d3b4e4cb1c0ad9bde419cacb47ba09699646150f9fc000f3f80e12",
  );
  expect(read.parameters).toEqual({
    symmetric: { algorithm: 0x0006, keyBits: 256, mode: 0x0043 },
    scheme: { scheme: 0x0010 },
    curveID: 0x0004,
    kdf: { scheme: 0x0010 },
  });
  expect([read.unique.x.length, read.unique.y.length]).toEqual([48, 48]);
  expect(hex(read.unique.y)).toBe(hex(eccEk.subarray(-48)));
});

test("each attribute is the bit that Part 2 gives it", () => {
  const bits = [
    [0x2, "fixedTPM"],
    [0x4, "stClear"],
    [0x10, "fixedParent"],
    [0x20, "sensitiveDataOrigin"],
    [0x40, "userWithAuth"],
    [0x80, "adminWithPolicy"],
    [0x400, "noDA"],
    [0x800, "encryptedDuplication"],
    [0x10000, "restricted"],
    [0x20000, "decrypt"],
    [0x40000, "sign"],
  ] as const;
  for (const [mask, name] of bits) {
    const octets = Uint8Array.of(mask >>> 24, (mask >>> 16) & 0xff, (mask >>> 8) & 0xff, mask & 0xff);
    const on = Object.entries(decode(TPMA_OBJECT, octets, "TPMA_OBJECT")).flatMap(([one, value]) =>
      value ? [one] : [],
    );
    expect(on).toEqual([name]);
  }
});

test("a reserved attribute is refused", () => {
  const bytes = ak.slice();
  bytes[9] = (bytes[9] ?? 0) | 0x01;
  expect(refusedAs(() => decode(TPM2B_PUBLIC, bytes, "TPM2B_PUBLIC"))).toBe("reserved-bits");
});

test("whatever bits flip, a structure is refused or written back exactly", () => {
  const structures = [
    { layout: TPM2B_PUBLIC, bytes: ak },
    { layout: TPM2B_PUBLIC, bytes: eccEk },
    { layout: TPMS_ATTEST, bytes: vector("vm/lab-sb-on/quote.msg") },
    { layout: TPMS_ATTEST, bytes: vector("vm/lab-sb-on/certify.msg") },
    { layout: TPMT_SIGNATURE, bytes: vector("vm/lab-sb-on/quote.sig") },
  ];
  const flips = fc.array(fc.nat(), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.constantFrom(...structures), flips, ({ layout, bytes }, positions) => {
      const changed = bytes.slice();
      for (const position of positions) {
        const at = position % (bytes.length * 8);
        changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
      }
      try {
        const value: unknown = decode<unknown>(layout, changed, "flipped");
        expect(hex(encode<unknown>(layout, value))).toBe(hex(changed));
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
      }
    }),
    { numRuns: 5000, seed: 20_261_129 },
  );
});
