import { aesGcmOpen, aesGcmSeal } from "../../../shared/crypto/aead.ts";
import { aesCfbEncrypt } from "../../../shared/crypto/aes-cfb.ts";
import { privateScalar, publicPoint, scalarRandomBytes, sharedX } from "../../../shared/crypto/ecdh.ts";
import { constantTimeEqual } from "../../../shared/crypto/equal.ts";
import { digest, hmac } from "../../../shared/crypto/hash.ts";
import { hkdfSha256, kdfa, kdfe } from "../../../shared/crypto/kdf.ts";
import { oaepEncrypt } from "../../../shared/crypto/oaep.ts";
import { isUsableKey, type PublicKey } from "../../../shared/crypto/public-key.ts";
import { verifyEcdsa, verifyEcdsaDer, verifyRsapss, verifyRsassa } from "../../../shared/crypto/verify.ts";

const hex = (bytes: Uint8Array | null): string =>
  bytes === null ? "null" : Array.from(bytes, (octet) => octet.toString(16).padStart(2, "0")).join("");
const bytes = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (octet) => Number.parseInt(octet, 16));

/** Signatures that Node made, for a key's numbers; all hex. */
export interface ProbeInput {
  readonly data: string;
  readonly rsa: {
    readonly modulus: string;
    readonly exponent: string;
    readonly rsassa: string;
    readonly rsapss: string;
  };
  readonly ec: readonly {
    readonly curve: "P-256" | "P-384";
    readonly x: string;
    readonly y: string;
    readonly r: string;
    readonly s: string;
    readonly der: string;
  }[];
}

/** What every primitive gives for the same input: it must be the same text on Node and on workerd. */
export function probe(input: ProbeInput): Record<string, string | boolean | number> {
  const data = bytes(input.data);
  const key = digest("sha256", data);
  const other = data.subarray(1);
  const aead = { key, nonce: key.subarray(0, 12), associatedData: data };
  const kdf = { hash: "sha384", label: "STORAGE", contextU: data, contextV: key, bits: 521 } as const;
  const rsa = { type: "rsa", modulus: bytes(input.rsa.modulus), exponent: bytes(input.rsa.exponent) } as const;
  const results: Record<string, string | boolean | number> = {
    sha1: hex(digest("sha1", data)),
    sha384: hex(digest("sha384", data, other)),
    sha512: hex(digest("sha512", data)),
    hmac: hex(hmac("sha256", key, data, other)),
    kdfa: hex(kdfa(key, kdf)),
    kdfe: hex(kdfe(key, kdf)),
    hkdf: hex(hkdfSha256(key, data, "fleetd config v1", 32)),
    cfb128: hex(aesCfbEncrypt(key.subarray(0, 16), data)),
    cfb256: hex(aesCfbEncrypt(key, data)),
    gcm: hex(aesGcmSeal(aead, data)),
    gcmOpen: hex(aesGcmOpen(aead, aesGcmSeal(aead, data))),
    gcmChanged: hex(aesGcmOpen(aead, aesGcmSeal({ ...aead, associatedData: key }, data))),
    equal: constantTimeEqual(data, data.slice()) && !constantTimeEqual(data, other),
    rsassa: verifyRsassa(rsa, "sha256", data, bytes(input.rsa.rsassa)),
    rsassaOther: verifyRsassa(rsa, "sha256", other, bytes(input.rsa.rsassa)),
    rsapss: verifyRsapss(rsa, "sha256", data, bytes(input.rsa.rsapss)),
    rsapssOther: verifyRsapss(rsa, "sha256", other, bytes(input.rsa.rsapss)),
    oaep: oaepEncrypt(rsa, "sha256", "IDENTITY", key).length,
  };
  for (const { curve, x, y, r, s, der } of input.ec) {
    const hash = curve === "P-256" ? "sha256" : "sha384";
    const ec = { type: "ec", curve, x: bytes(x), y: bytes(y) } as const;
    const scalar = privateScalar(curve, new Uint8Array(scalarRandomBytes(curve)).fill(7));
    const offCurve: PublicKey = { ...ec, x: ec.y };
    results[`${curve} ecdsa`] = verifyEcdsa(ec, hash, data, { r: bytes(r), s: bytes(s) });
    results[`${curve} ecdsa other`] = verifyEcdsa(ec, hash, other, { r: bytes(r), s: bytes(s) });
    results[`${curve} der`] = verifyEcdsaDer(ec, hash, data, bytes(der));
    results[`${curve} off its curve`] = isUsableKey(offCurve);
    results[`${curve} point`] = hex(publicPoint(curve, scalar).x);
    results[`${curve} ecdh`] = hex(sharedX(curve, scalar, ec));
  }
  return results;
}
