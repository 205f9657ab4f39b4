import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
} from "@peculiar/asn1-x509";

const ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";
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
  readonly #name: Name;

  constructor(commonName: string) {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#key = privateKey;
    this.#name = nameOf({ commonName, use: "authority" });
    this.pem = this.issue({ commonName, use: "authority" }, publicKey.export({ type: "spki", format: "der" }));
  }

  /** Issues a certificate in PEM for a SubjectPublicKeyInfo in DER. */
  issue(profile: Profile, spki: Uint8Array): string {
    const nowMs = Date.now();
    const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
    const tbs = new TBSCertificate({
      version: 2,
      serialNumber: serial(),
      signature: algorithm,
      issuer: this.#name,
      validity: new Validity({
        notBefore: new Date(nowMs - BACKDATED_MS),
        notAfter: new Date(nowMs + 365 * DAY_MS),
      }),
      subject: nameOf(profile),
      subjectPublicKeyInfo: AsnConvert.parse(bufferOf(spki), SubjectPublicKeyInfo),
      extensions: new Extensions(extensionsOf(profile)),
    });
    const signature = sign("sha256", new Uint8Array(AsnConvert.serialize(tbs)), this.#key);
    const certificate = new Certificate({
      tbsCertificate: tbs,
      signatureAlgorithm: algorithm,
      signatureValue: bufferOf(signature),
    });
    return pem("CERTIFICATE", new Uint8Array(AsnConvert.serialize(certificate)));
  }

  /** A server's certificate and key for 127.0.0.1 and localhost, in PEM. */
  serverIdentity(): { readonly certificate: string; readonly key: string } {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const spki = createPublicKey(createPrivateKey(key)).export({ type: "spki", format: "der" });
    return { certificate: this.issue({ commonName: "kube-apiserver", use: "server" }, spki), key };
  }
}

function extensionsOf({ use }: Profile): Extension[] {
  const extension = (extnID: string, critical: boolean, value: unknown) =>
    new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
  const constraints = new BasicConstraints({ cA: use === "authority" });
  const usage =
    use === "authority" ? KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign : KeyUsageFlags.digitalSignature;
  const extensions = [extension("2.5.29.19", true, constraints), extension("2.5.29.15", true, new KeyUsage(usage))];
  if (use === "authority") return extensions;
  const purpose = use === "server" ? "1.3.6.1.5.5.7.3.1" : "1.3.6.1.5.5.7.3.2";
  extensions.push(extension("2.5.29.37", false, new ExtendedKeyUsage([purpose])));
  if (use === "server") {
    const names = [new GeneralName({ dNSName: "localhost" }), new GeneralName({ iPAddress: "127.0.0.1" })];
    extensions.push(extension("2.5.29.17", false, new SubjectAlternativeName(names)));
  }
  return extensions;
}

function nameOf({ commonName, organizations = [] }: Profile): Name {
  const rdn = (type: string, printableString: string) =>
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type, value: new AttributeValue({ printableString }) }),
    ]);
  return new Name([...organizations.map((name) => rdn("2.5.4.10", name)), rdn("2.5.4.3", commonName)]);
}

function serial(): ArrayBuffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bufferOf(bytes);
}

/** Wraps DER in PEM. */
export function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
