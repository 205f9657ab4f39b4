import { digest, type HashName } from "../crypto/hash.ts";
import { isUsableKey, type PublicKey } from "../crypto/public-key.ts";
import { decode, encode } from "../formats/codec.ts";
import { curveName, hashName, TPM_ALG } from "../formats/tpm2/algorithms.ts";
import { TPM2B_PUBLIC, TPMA_OBJECT, TPMT_PUBLIC, type TpmtPublic } from "../formats/tpm2/public.ts";
import { encodeSpki } from "../formats/x509/spki.ts";
import { isEkTemplate } from "./ek-templates.ts";
import { concat, toHex } from "./hex.ts";
import { type Refusal, refusal } from "./verdict.ts";

/** The digests that a signature may be over. */
const SIGNING_HASHES: readonly HashName[] = ["sha256", "sha384", "sha512"];

/**
 * A TPM2B_PUBLIC, whole.
 * @throws FormatError
 */
export function readPublic(bytes: Uint8Array): TpmtPublic {
  return decode(TPM2B_PUBLIC, bytes, "TPM2B_PUBLIC");
}

/**
 * A TPM2B_PUBLIC or the TPMT_PUBLIC in it, as evidence files carry either.
 * @throws FormatError
 */
export function readEitherPublic(bytes: Uint8Array): TpmtPublic {
  const size = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  return size === bytes.length - 2 ? readPublic(bytes) : decode(TPMT_PUBLIC, bytes, "TPMT_PUBLIC");
}

// An area is asked for its key once to judge it and again for each signature; a key is imported once an object.
const keys = new WeakMap<TpmtPublic, PublicKey | null>();

/** The key's numbers, or null for a curve that no TPM here has. */
export function publicKeyOf(area: TpmtPublic): PublicKey | null {
  const known = keys.get(area);
  if (known !== undefined) return known;
  const key = readPublicKey(area);
  keys.set(area, key);
  return key;
}

function readPublicKey(area: TpmtPublic): PublicKey | null {
  if (area.type === TPM_ALG.RSA) {
    const { exponent } = area.parameters;
    // Zero stands for the default, 65537.
    const value = exponent === 0 ? 65_537 : exponent;
    const octets = [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);
    return {
      type: "rsa",
      modulus: area.unique,
      exponent: Uint8Array.from(octets.slice(octets.findIndex((o) => o !== 0))),
    };
  }
  const curve = curveName(area.parameters.curveID);
  return curve && { type: "ec", curve, x: area.unique.x, y: area.unique.y };
}

/**
 * The Name of a public area: nameAlg and the digest of TPMT_PUBLIC.
 * @throws RangeError for a nameAlg that cannot be computed
 * @see TPM 2.0 Library Part 1, 16
 */
export function nameOf(area: TpmtPublic): Uint8Array {
  const hash = hashName(area.nameAlg);
  if (!hash) throw new RangeError(`nameAlg 0x${area.nameAlg.toString(16)}`);
  return concat(Uint8Array.of(area.nameAlg >> 8, area.nameAlg & 0xff), digest(hash, encode(TPMT_PUBLIC, area)));
}

/**
 * An EK's digest: of the SubjectPublicKeyInfo that is built from the key itself.
 * @throws RangeError for a curve that no TPM here has
 * @see spec/10-protocol.md section 1
 */
export function ekDigest(area: TpmtPublic): string {
  const key = publicKeyOf(area);
  if (!key) throw new RangeError("a key of an unknown curve");
  return keyDigest(key);
}

/** The digest of a key however it came: from a public area or from a certificate. */
export function keyDigest(key: PublicKey): string {
  return `sha256:${toHex(digest("sha256", encodeSpki(key)))}`;
}

/** Whether the key is one whose quotes mean something: restricted, signing, born in this TPM and bound to it. */
export function judgeAk(area: TpmtPublic): Refusal | null {
  const wrong = signingKeyProblem(area, true);
  return wrong === null ? null : refusal("ak-attributes", "ak", wrong, "a restricted signing key, fixed to its TPM");
}

/** Whether the key may become the machine's identity: as the AK, but free to sign anything. */
export function judgeLdevid(area: TpmtPublic): Refusal | null {
  const wrong = signingKeyProblem(area, false);
  return wrong === null
    ? null
    : refusal("ldevid-attributes", "ldevid", wrong, "an unrestricted signing key, fixed to its TPM");
}

/** Whether the area is of a template that EK certificates are issued for: the approved digest covers only the key. */
export function judgeEk(area: TpmtPublic): Refusal<"ek-template"> | null {
  const key = publicKeyOf(area);
  const wrong = !key || !isUsableKey(key) ? "no usable key" : isEkTemplate(area) ? null : keyText(area);
  return wrong === null ? null : refusal("ek-template", "ek", wrong, "a template of the TCG EK credential profile");
}

function signingKeyProblem(area: TpmtPublic, restricted: boolean): string | null {
  const a = area.objectAttributes;
  const wanted = a.sign && a.fixedTPM && a.fixedParent && a.sensitiveDataOrigin && !a.decrypt;
  if (!wanted || a.restricted !== restricted) return keyText(area);
  const nameHash = hashName(area.nameAlg);
  if (!nameHash || !SIGNING_HASHES.includes(nameHash)) return `nameAlg 0x${area.nameAlg.toString(16)}`;
  const { scheme } = area.parameters;
  const schemes: readonly number[] = [TPM_ALG.RSASSA, TPM_ALG.RSAPSS, TPM_ALG.ECDSA];
  if (!schemes.includes(scheme.scheme) || !("hashAlg" in scheme)) return "no signature scheme of its own";
  const schemeHash = hashName(scheme.hashAlg);
  if (!schemeHash || !SIGNING_HASHES.includes(schemeHash)) return `scheme hash 0x${scheme.hashAlg.toString(16)}`;
  if (area.parameters.symmetric.algorithm !== TPM_ALG.NULL) return "a symmetric algorithm on a signing key";
  return keyProblem(area);
}

function keyProblem(area: TpmtPublic): string | null {
  const key = publicKeyOf(area);
  if (area.type === TPM_ALG.RSA) {
    const { keyBits, exponent } = area.parameters;
    if (keyBits < 2048) return `RSA of ${keyBits} bits`;
    if (exponent !== 0 && exponent !== 65_537) return `exponent ${exponent}`;
    if (area.unique.length * 8 !== keyBits || (area.unique[0] ?? 0) < 0x80) return "modulus of another length";
  } else if (!key || (key.type === "ec" && key.curve === "P-521")) {
    return `curve 0x${area.parameters.curveID.toString(16)}`;
  }
  return key && isUsableKey(key) ? null : "no usable key";
}

/** Kind, size and attributes of a key, for people. */
export function keyText(area: TpmtPublic): string {
  const attributes = toHex(encode(TPMA_OBJECT, area.objectAttributes));
  const { parameters } = area;
  const size =
    "keyBits" in parameters ? `RSA ${parameters.keyBits}` : (curveName(parameters.curveID) ?? "another curve");
  return `${size}, nameAlg 0x${area.nameAlg.toString(16)}, attributes 0x${attributes}`;
}
