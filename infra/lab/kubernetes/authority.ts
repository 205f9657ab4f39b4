import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { der, TAG } from "../../../shared/formats/der.ts";
import {
  bitString,
  explicit,
  implicit,
  octetString,
  oid,
  printableString,
  sequence,
  unsignedInteger,
} from "../../../shared/formats/der-write.ts";
import { OID } from "../../../shared/formats/x509/oids.ts";
import { writeTime } from "../../../shared/formats/x509/time.ts";

const ORGANIZATION = "2.5.4.10";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const DAY_MS = 86_400_000;
const BACKDATED_MS = 5 * 60_000;

interface Profile {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly use: "authority" | "server" | "client";
}

/** The lab cluster's certificate authority: a P-256 key that lives as long as the process. */
export class LabAuthority {
  readonly pem: string;
  readonly #key: KeyObject;
  readonly #name: Uint8Array;
  readonly #keyId: Uint8Array;
  readonly #clockMs: () => number;

  /** @param clockMs what its certificates are dated by: milliseconds since 1970 */
  constructor(commonName: string, clockMs: () => number = Date.now) {
    this.#clockMs = clockMs;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const spki = publicKey.export({ type: "spki", format: "der" });
    this.#key = privateKey;
    this.#name = nameOf({ commonName, use: "authority" });
    this.#keyId = keyIdOf(spki);
    this.pem = this.issue({ commonName, use: "authority" }, spki);
  }

  /** The authority's private key, PKCS#8 in PEM: for an issuer that lives in a file. */
  keyPem(): string {
    return this.#key.export({ type: "pkcs8", format: "pem" }).toString();
  }

  /** Issues a certificate in PEM for a SubjectPublicKeyInfo in DER. */
  issue(profile: Profile, spki: Uint8Array): string {
    const nowMs = this.#clockMs();
    const algorithm = sequence(oid(OID["ecdsa-with-SHA256"]));
    const tbs = sequence(
      explicit(0, unsignedInteger(Uint8Array.of(2))),
      unsignedInteger(serial()),
      algorithm,
      this.#name,
      sequence(writeTime(nowMs - BACKDATED_MS), writeTime(nowMs + 365 * DAY_MS)),
      nameOf(profile),
      spki,
      explicit(3, sequence(...extensionsOf(profile, spki, this.#keyId))),
    );
    const certificate = sequence(tbs, algorithm, bitString(sign("sha256", tbs, this.#key)));
    return pem("CERTIFICATE", certificate);
  }

  /** A server's certificate and key for 127.0.0.1 and localhost, in PEM. */
  serverIdentity(): { readonly certificate: string; readonly key: string } {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const spki = publicKey.export({ type: "spki", format: "der" });
    return { certificate: this.issue({ commonName: "kube-apiserver", use: "server" }, spki), key };
  }
}

function extensionsOf({ use }: Profile, spki: Uint8Array, issuerKeyId: Uint8Array): Uint8Array[] {
  const isAuthority = use === "authority";
  // keyCertSign and cRLSign are bits 5 and 6, digitalSignature is bit 0.
  const usage = isAuthority ? bitString(Uint8Array.of(0x06), 1) : bitString(Uint8Array.of(0x80), 7);
  const constraints = isAuthority ? sequence(der(TAG.BOOLEAN, Uint8Array.of(0xff))) : sequence();
  const extensions = [
    extension(OID.basicConstraints, true, constraints),
    extension(OID.keyUsage, true, usage),
    extension(OID.subjectKeyIdentifier, false, octetString(keyIdOf(spki))),
    extension(OID.authorityKeyIdentifier, false, sequence(implicit(0, issuerKeyId))),
  ];
  if (!isAuthority) {
    extensions.push(extension(OID.extKeyUsage, false, sequence(oid(use === "server" ? SERVER_AUTH : OID.clientAuth))));
  }
  if (use === "server") {
    const names = sequence(implicit(2, Buffer.from("localhost")), implicit(7, Uint8Array.of(127, 0, 0, 1)));
    extensions.push(extension(OID.subjectAltName, false, names));
  }
  return extensions;
}

function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  const mark = critical ? [der(TAG.BOOLEAN, Uint8Array.of(0xff))] : [];
  return sequence(oid(id), ...mark, octetString(value));
}

function nameOf({ commonName, organizations = [] }: Profile): Uint8Array {
  const rdn = (type: string, text: string) => der(TAG.SET, sequence(oid(type), printableString(text)));
  return sequence(...organizations.map((name) => rdn(ORGANIZATION, name)), rdn(OID.commonName, commonName));
}

function keyIdOf(spki: Uint8Array): Uint8Array {
  return createHash("sha1").update(spki).digest();
}

function serial(): Uint8Array {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes;
}

/** Wraps DER in PEM. */
export function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
