import { constants, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { verifyBundle } from "../../shared/attest/bundle.ts";
import { signatureProblem } from "../../shared/attest/signature.ts";
import { decode, encode } from "../../shared/formats/codec.ts";
import { TPM2B_PUBLIC, TPMT_PUBLIC, type TpmtPublic } from "../../shared/formats/tpm2/public.ts";
import { TPMT_SIGNATURE } from "../../shared/formats/tpm2/signature.ts";
import { KEY_KINDS, type KeyKind, softKey, softSet } from "./evidence.ts";
import { bytesAt, factsOf, withBytes, withField } from "./fields.ts";

const ORDER: Readonly<Record<string, bigint>> = {
  "P-256": 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  "P-384": 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
};
const SIZE: Readonly<Record<string, number>> = { "P-256": 32, "P-384": 48 };
const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const bytesOf = (value: bigint, size: number) =>
  new Uint8Array(Buffer.from(value.toString(16).padStart(2 * size, "0"), "hex"));

const sets = new Map(KEY_KINDS.map((kind) => [kind, softSet(kind, "intake")]));
const answer = (kind: KeyKind, change: (bundle: unknown) => unknown) => {
  const set = sets.get(kind);
  if (!set?.profile) throw new Error(kind);
  const result = verifyBundle(change(set.bundle), { profile: set.profile });
  const honest = verifyBundle(set.bundle, { profile: set.profile });
  // Evidence in another form is the same evidence or none.
  if (result.verdict === "accepted") expect(factsOf(result)).toBe(factsOf(honest));
  return result.verdict === "accepted" ? "accepted" : result.codes.join(" ");
};
const bundleOf = (kind: KeyKind) => sets.get(kind)?.bundle;

describe("forms of the same evidence", () => {
  test.each(KEY_KINDS)("%s: a public area with and without its size, and no other prefix", (kind) => {
    const area = decode(TPM2B_PUBLIC, bytesAt(bundleOf(kind), "akPublic"), "TPM2B_PUBLIC");
    const bare = encode(TPMT_PUBLIC, area);
    expect(answer(kind, (b) => withBytes(b, "akPublic", bare))).toBe("accepted");
    const sized = Uint8Array.from([bare.length >> 8, bare.length & 0xff, ...bare]);
    const twice = Uint8Array.from([sized.length >> 8, sized.length & 0xff, ...sized]);
    expect(answer(kind, (b) => withBytes(b, "akPublic", twice))).toBe("ak-attributes");
    expect(answer(kind, (b) => withBytes(b, "akPublic", Uint8Array.from([0, 0, ...bare])))).toBe("ak-attributes");
  });

  test.each(["quote.attest", "quote.signature"])("%s has no size before it", (field) => {
    for (const kind of KEY_KINDS) {
      const bare = bytesAt(bundleOf(kind), field);
      const sized = Uint8Array.from([bare.length >> 8, bare.length & 0xff, ...bare]);
      expect(answer(kind, (b) => withBytes(b, field, sized))).toBe("quote-invalid");
    }
  });

  test("base64: the spare bits of a last digit are in no byte", () => {
    const nonce = bundleOf("P-384")?.challenge?.nonce ?? "";
    expect(nonce).toMatch(/k=$/);
    for (const last of ["l=", "m=", "n="])
      expect(answer("P-384", (b) => withField(b, "challenge.nonce", nonce.replace(/k=$/, last)))).toBe("accepted");
    expect(answer("P-384", (b) => withField(b, "challenge.nonce", nonce.replace(/k=$/, "o=")))).toBe("quote-invalid");
  });

  test("base64: white space, other alphabets and missing padding are no base64", () => {
    const { quote } = bundleOf("P-384") ?? { quote: { attest: "" } };
    const attempts = {
      "a line break": `${quote.attest.slice(0, 8)}\n${quote.attest.slice(8)}`,
      "the URL alphabet": quote.attest.replaceAll("+", "-").replaceAll("/", "_").concat("-_-_"),
      "one character less": quote.attest.slice(0, -1),
      "padding in the middle": `${quote.attest.slice(0, 4)}AA==${quote.attest.slice(4)}`,
      "a space": ` ${quote.attest}`,
      "a NUL": `${quote.attest}\0`,
      "full-width letters": `\uff21${quote.attest.slice(1)}`,
    };
    for (const [what, value] of Object.entries(attempts))
      expect(
        answer("P-384", (b) => withField(b, "quote.attest", value)),
        what,
      ).toBe("bad-request");
  });
});

describe.each(["P-256", "P-384"] as const)("%s signatures", (kind) => {
  const size = SIZE[kind] ?? 0;
  const order = ORDER[kind] ?? 0n;
  const signature = decode(TPMT_SIGNATURE, bytesAt(bundleOf(kind), "quote.signature"), "TPMT_SIGNATURE");
  if (signature.sigAlg !== 0x0018) throw new Error("no ECDSA");
  const { signatureR: r, signatureS: s } = signature;
  const signed = (signatureR: Uint8Array, signatureS: Uint8Array) =>
    answer(kind, (b) =>
      withBytes(b, "quote.signature", encode(TPMT_SIGNATURE, { ...signature, signatureR, signatureS })),
    );

  // Anybody can make the second form of a signature; it is over the same words of the same key, and nothing keeps
  // signatures to compare them: a nonce is what makes evidence single-use.
  test("s and n − s are one signature", () => {
    expect(signed(r, bytesOf(order - numberOf(s), size))).toBe("accepted");
  });
  test("zeros before r and s up to the curve's size are no other numbers, beyond it they are refused", () => {
    const short = (value: Uint8Array) => value.subarray(value.findIndex((octet) => octet !== 0));
    expect(signed(short(r), short(s))).toBe("accepted");
    expect(signed(Uint8Array.from([0, ...bytesOf(numberOf(r), size)]), s)).toBe("quote-invalid");
    expect(signed(r, Uint8Array.from([0, ...bytesOf(numberOf(s), size)]))).toBe("quote-invalid");
  });
  test("0, n and numbers beyond n", () => {
    const zero = new Uint8Array(size);
    const n = bytesOf(order, size);
    const most = new Uint8Array(size).fill(255);
    const none = new Uint8Array(0);
    for (const bad of [zero, n, most, none])
      expect([signed(bad, s), signed(r, bad), signed(bad, bad)]).toEqual(Array(3).fill("quote-invalid"));
  });
  test("r and s in each other's place", () => expect(signed(s, r)).toBe("quote-invalid"));
});

describe.each(["RSASSA", "RSAPSS"] as const)("%s signatures", (kind) => {
  const signature = decode(TPMT_SIGNATURE, bytesAt(bundleOf(kind), "quote.signature"), "TPMT_SIGNATURE");
  if (signature.sigAlg === 0x0018) throw new Error("no RSA");
  const area = decode(TPM2B_PUBLIC, bytesAt(bundleOf(kind), "akPublic"), "TPM2B_PUBLIC");
  if (area.type !== 0x0001) throw new Error("no RSA");
  const signed = (sig: Uint8Array) =>
    answer(kind, (b) => withBytes(b, "quote.signature", encode(TPMT_SIGNATURE, { ...signature, sig })));

  test("s + n, where it fits, zeros before it, and short forms are refused", () => {
    const sum = numberOf(signature.sig) + numberOf(area.unique);
    const size = signature.sig.length;
    expect(signed(bytesOf(sum, size + 1))).toBe("quote-invalid");
    expect(signed(Uint8Array.from([0, ...signature.sig]))).toBe("quote-invalid");
    expect(signed(signature.sig.subarray(1))).toBe("quote-invalid");
    for (const bad of [new Uint8Array(size), new Uint8Array(size).fill(255), area.unique])
      expect(signed(bad)).toBe("quote-invalid");
  });
  test("the other scheme's label, another hash's", () => {
    for (const change of [
      { sigAlg: signature.sigAlg === 0x0014 ? 0x0016 : 0x0014 },
      { hash: 0x0004 },
      { hash: 0x000d },
    ] as const)
      expect(
        answer(kind, (b) => withBytes(b, "quote.signature", encode(TPMT_SIGNATURE, { ...signature, ...change }))),
      ).toBe("quote-invalid");
  });
});

describe("a signature that is the key's, by another scheme or hash than it declares", () => {
  const attempts: readonly (readonly [KeyKind, string, number, number])[] = [
    ["RSASSA", "sha384", 0x0014, 0x000c],
    ["RSASSA", "sha256", 0x0016, 0x000b],
    ["RSAPSS", "sha384", 0x0014, 0x000c],
    ["RSAPSS", "sha256", 0x0016, 0x000b],
    ["P-256", "sha384", 0x0018, 0x000c],
    ["P-384", "sha256", 0x0018, 0x000b],
  ];
  test.each(attempts)("%s: %s under 0x%i", (kind, hash, sigAlg, hashAlg) => {
    const { key } = softKey(kind);
    const attest = bytesAt(bundleOf(kind), "quote.attest");
    const padding = sigAlg === 0x0016 ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
    const options = sigAlg === 0x0018 ? { dsaEncoding: "ieee-p1363" as const } : { padding };
    const raw = new Uint8Array(sign(hash, attest, { key: key.privateKey, ...options }));
    const half = raw.length / 2;
    const parts = { signatureR: raw.subarray(0, half), signatureS: raw.subarray(half) };
    const made =
      sigAlg === 0x0018
        ? encode(TPMT_SIGNATURE, { sigAlg, hash: hashAlg, ...parts })
        : encode(TPMT_SIGNATURE, { sigAlg: sigAlg === 0x0016 ? sigAlg : 0x0014, hash: hashAlg, sig: raw });
    const byOther = (area: Uint8Array) => verifyQuoteBy(kind, area, made);
    expect(byOther(key.public)).toBe("quote-invalid");
    // The same signature under a key that declares it so is that key's: what is wrong is the declaration alone.
    const { parameters } = key.area;
    const declared = encode(TPM2B_PUBLIC, {
      ...key.area,
      parameters: { ...parameters, scheme: { scheme: sigAlg, hashAlg } },
    } as TpmtPublic);
    expect(signatureProblem(decode(TPM2B_PUBLIC, declared, "TPM2B_PUBLIC"), attest, made)).toBe(null);
  });
});

/** The answer to a kind's bundle under another key and signature. */
function verifyQuoteBy(kind: KeyKind, area: Uint8Array, signature: Uint8Array): string {
  return answer(kind, (b) => withBytes(withBytes(b, "akPublic", area), "quote.signature", signature));
}
