import type { TpmtPublic } from "../formats/tpm2/public.ts";
import { readCertificate } from "../formats/x509/certificate.ts";
import type { IssuerAlgorithm } from "../formats/x509/issued.ts";
import { certificatePem } from "../formats/x509/pem.ts";
import { certificateToSign, signedCertificate } from "./certificates.ts";
import { type RecordedCertificate, recordedCertificate } from "./node-certificate.ts";

export interface Issued {
  /** Leaf first, with chain. */
  readonly ldevidPem: string;
  readonly lakPem: string;
  readonly identity: {
    readonly ldevid: RecordedCertificate;
    readonly lak: RecordedCertificate;
    readonly subject: string;
    readonly issuedAtMs: number;
  };
}

/** The issuer, as far as it is asked here. */
interface Issuer {
  chain(): Promise<readonly Uint8Array[]>;
  algorithm(): Promise<IssuerAlgorithm>;
  sign(tbs: Uint8Array): Promise<Uint8Array>;
}

/**
 * Issues LDevID and LAK certificates for keys that were proven in this very session; throws what the issuer throws.
 * @see spec/20-verification.md "Certificates issued"
 */
export async function issueIdentity(
  signer: Issuer,
  about: {
    readonly deviceName: string;
    readonly chassisSerial: string;
    readonly trustDomain: string;
    readonly approvedEks: readonly string[];
    readonly ldevid: TpmtPublic;
    readonly lak: TpmtPublic;
    readonly nowMs: number;
    readonly lifetimeMs: number;
    readonly random: (count: number) => Uint8Array;
  },
): Promise<Issued> {
  const chain = await signer.chain();
  const algorithm = await signer.algorithm();
  const [issuer] = chain;
  if (issuer === undefined) throw new Error("the signer has no certificate");
  const { ldevid: _, lak: __, random, ...fields } = about;
  const issue = async (kind: "ldevid" | "lak", publicArea: TpmtPublic) => {
    const tbs = certificateToSign(kind, {
      ...fields,
      publicArea,
      issuer: { certificate: issuer, algorithm },
      serialNumber: random(20),
    });
    const der = signedCertificate(tbs, algorithm, await signer.sign(tbs));
    const read = readCertificate(der);
    return {
      pem: [der, ...chain].map(certificatePem).join(""),
      subject: read.subjectText,
      record: recordedCertificate(read),
    };
  };
  const ldevid = await issue("ldevid", about.ldevid);
  const lak = await issue("lak", about.lak);
  return {
    ldevidPem: ldevid.pem,
    lakPem: lak.pem,
    identity: { ldevid: ldevid.record, lak: lak.record, subject: ldevid.subject, issuedAtMs: about.nowMs },
  };
}
