import { ASN1Obj, X509Certificate } from "@sigstore/core";

/** A certificate as @sigstore/core's reader sees it: a DER reader of another family than fleetd's. */
export interface SeenCertificate {
  readonly version: number;
  readonly serial: string;
  /** AlgorithmIdentifier in TBSCertificate and beside the signature, DER. */
  readonly algorithms: readonly [string, string];
  readonly issuer: string;
  readonly validity: readonly { readonly tag: number; readonly ms: number }[];
  /** One entry an RDN: attribute type, tag of its value, value. */
  readonly subject: readonly (readonly [string, number, string])[];
  readonly spki: string;
  readonly extensions: Readonly<Record<string, { readonly critical: boolean; readonly value: ASN1Obj }>>;
  readonly order: readonly string[];
  readonly signedBy: boolean;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** The n-th part of a structure. @throws Error where it has no such part */
export function part(of: ASN1Obj | undefined, ...path: readonly number[]): ASN1Obj {
  let at = of;
  for (const index of path) at = at?.subs[index];
  if (at === undefined) throw new Error(`nothing at ${path.join(".")}`);
  return at;
}

/** Reads DER whole; every length in it is the shortest, or it would not be written again as it came. */
export function readBySigstore(der: Uint8Array, issuerPem: string): SeenCertificate {
  const bytes = Buffer.from(der);
  const root = ASN1Obj.parseBuffer(bytes);
  if (!root.toDER().equals(bytes)) throw new Error("not in DER");
  const tbs = part(root, 0);
  const read = X509Certificate.parse(bytes);
  const all = part(tbs, 7, 0).subs.map((one) => ({
    oid: part(one, 0).toOID(),
    critical: one.subs.length === 3 && part(one, 1).toBoolean(),
    // extnValue is an OCTET STRING around DER.
    value: ASN1Obj.parseBuffer(Buffer.from(octets(part(one, one.subs.length - 1)))),
  }));
  return {
    version: Number(part(tbs, 0, 0).toInteger()) + 1,
    serial: hex(part(tbs, 1).value),
    algorithms: [hex(part(tbs, 2).toDER()), hex(part(root, 1).toDER())],
    issuer: hex(part(tbs, 3).toDER()),
    validity: part(tbs, 4).subs.map((time) => ({ tag: time.tag.number, ms: time.toDate().getTime() })),
    subject: part(tbs, 5).subs.map((rdn) => {
      if (rdn.subs.length !== 1) throw new Error("an RDN of several attributes");
      const value = part(rdn, 0, 1);
      return [part(rdn, 0, 0).toOID(), value.tag.number, value.value.toString("utf8")] as const;
    }),
    spki: hex(part(tbs, 6).toDER()),
    extensions: Object.fromEntries(all.map(({ oid, ...rest }) => [oid, rest])),
    order: all.map(({ oid }) => oid),
    signedBy: read.verify(X509Certificate.parse(issuerPem)),
  };
}

/** The subject's Name of a certificate, DER in hex. */
export function subjectBySigstore(pem: string): string {
  return hex(part(X509Certificate.parse(pem).tbsCertificate, 5).toDER());
}

/** The contents of an OCTET STRING, also where the reader has parsed what is in it. */
export function octets(one: ASN1Obj): Uint8Array {
  return one.subs.length === 0 ? one.value : Buffer.concat(one.subs.map((sub) => sub.toDER()));
}
