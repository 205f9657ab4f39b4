import {
  constants,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  privateDecrypt,
} from "node:crypto";
import { decode } from "../../../shared/formats/codec.ts";
import { TPM2B_ENCRYPTED_SECRET, TPM2B_ID_OBJECT } from "../../../shared/formats/tpm2/credential.ts";
import { TPMS_ECC_POINT } from "../../../shared/formats/tpm2/public.ts";

const HASH = "sha256";
const HASH_BITS = 256;
const AES_BITS = 128;
const COORDINATE_BYTES = 32;

/** KDFa in counter mode. @see TPM 2.0 Library Part 1, 11.4.10.2 */
function kdfa(key: Uint8Array, label: string, contextU: Uint8Array, contextV: Uint8Array, bits: number): Buffer {
  const blocks: Buffer[] = [];
  for (let counter = 1; blocks.length * HASH_BITS < bits; counter++) {
    const hmac = createHmac(HASH, key).update(be32(counter)).update(`${label}\0`).update(contextU).update(contextV);
    blocks.push(hmac.update(be32(bits)).digest());
  }
  return Buffer.concat(blocks).subarray(0, bits / 8);
}

/** KDFe of one block: SHA-256 gives all the bits that it is asked for. @see TPM 2.0 Library Part 1, 11.4.10.3 */
function kdfe(z: Uint8Array, label: string, partyU: Uint8Array, partyV: Uint8Array): Buffer {
  return createHash(HASH).update(be32(1)).update(z).update(`${label}\0`).update(partyU).update(partyV).digest();
}

/**
 * TPM2_ActivateCredential below a key of nameAlg SHA-256 and AES-128-CFB.
 * @throws Error where the credential is for another EK or another object
 * @see TPM 2.0 Library Part 1, 24
 */
export function openCredential(
  ek: KeyObject,
  name: Uint8Array,
  credentialBlob: Uint8Array,
  secret: Uint8Array,
): Buffer {
  const seed = seedOf(ek, decode(TPM2B_ENCRYPTED_SECRET, secret, "TPM2B_ENCRYPTED_SECRET"));
  const { integrityHMAC, encIdentity } = decode(TPM2B_ID_OBJECT, credentialBlob, "TPM2B_ID_OBJECT");
  const none = new Uint8Array(0);
  const hmacKey = kdfa(seed, "INTEGRITY", none, none, HASH_BITS);
  const integrity = createHmac(HASH, hmacKey).update(encIdentity).update(name).digest();
  if (!integrity.equals(integrityHMAC)) throw new Error("TPM_RC_INTEGRITY: the credential is for another object");
  const key = kdfa(seed, "STORAGE", name, none, AES_BITS);
  const decipher = createDecipheriv("aes-128-cfb", key, new Uint8Array(16));
  const identity = Buffer.concat([decipher.update(encIdentity), decipher.final()]);
  if (identity.length < 2 || identity.readUInt16BE(0) !== identity.length - 2) throw new Error("TPM_RC_SIZE");
  return identity.subarray(2);
}

function seedOf(ek: KeyObject, secret: Uint8Array): Buffer {
  if (ek.asymmetricKeyType === "rsa") {
    const padding = constants.RSA_PKCS1_OAEP_PADDING;
    return privateDecrypt({ key: ek, padding, oaepHash: HASH, oaepLabel: Buffer.from("IDENTITY\0") }, secret);
  }
  const point = decode(TPMS_ECC_POINT, secret, "TPMS_ECC_POINT");
  const [x, y] = [padded(point.x), padded(point.y)];
  const jwk = { kty: "EC", crv: "P-256", x: x.toString("base64url"), y: y.toString("base64url") };
  const z = diffieHellman({ privateKey: ek, publicKey: createPublicKey({ key: jwk, format: "jwk" }) });
  return kdfe(z, "IDENTITY", x, coordinates(ek).x);
}

/** The coordinates of an EC key, as wide as the curve. */
export function coordinates(key: KeyObject): { readonly x: Buffer; readonly y: Buffer } {
  const { x = "", y = "" } = publicHalf(key).export({ format: "jwk" });
  return { x: padded(Buffer.from(x, "base64url")), y: padded(Buffer.from(y, "base64url")) };
}

/** The public half of a private key. */
export function publicHalf(key: KeyObject): KeyObject {
  return key.type === "public" ? key : createPublicKey(key);
}

function padded(coordinate: Uint8Array): Buffer {
  return Buffer.concat([Buffer.alloc(Math.max(COORDINATE_BYTES - coordinate.length, 0)), coordinate]);
}

function be32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
