import { certificateToSign, signedCertificate } from "../../shared/attest/certificates.ts";
import { toHex } from "../../shared/attest/hex.ts";
import { publicKeyOf } from "../../shared/attest/keys.ts";
import { spkiSha256 } from "../../shared/attest/spki.ts";
import type { Device } from "../../shared/fleet/device.ts";
import type { IdentityRecord } from "../../shared/fleet/record.ts";
import type { TpmtPublic } from "../../shared/formats/tpm2/public.ts";
import { readCertificate } from "../../shared/formats/x509/certificate.ts";
import { certificatePem } from "../../shared/formats/x509/pem.ts";
import type { Deps } from "../../shared/runtime/deps.ts";

export interface Issued {
  /** Leaf first, with chain. */
  readonly ldevidPem: string;
  readonly lakPem: string;
  readonly identity: IdentityRecord;
}

/**
 * Issues LDevID and LAK certificates for keys that were proven in this very session.
 * @throws PortError signer
 * @see spec/20-verification.md "Certificates issued"
 */
export async function issueIdentity(
  deps: Deps,
  about: {
    readonly device: Device;
    readonly approvedEks: readonly string[];
    readonly ldevid: TpmtPublic;
    readonly ak: TpmtPublic;
    readonly lifetimeMs: number;
  },
): Promise<Issued> {
  const { signer, settings, entropy, clock } = deps.world;
  const chain = await signer.chain();
  const algorithm = await signer.algorithm();
  const [issuer] = chain;
  if (issuer === undefined) throw new Error("the signer has no certificate");
  const issue = async (kind: "ldevid" | "lak", publicArea: TpmtPublic) => {
    const tbs = certificateToSign(kind, {
      deviceName: about.device.name,
      chassisSerial: about.device.serial,
      trustDomain: settings.trustDomain,
      approvedEks: about.approvedEks,
      publicArea,
      issuer: { certificate: issuer, algorithm },
      nowMs: clock.nowMs(),
      lifetimeMs: about.lifetimeMs,
      serialNumber: entropy.bytes(20),
    });
    const der = signedCertificate(tbs, algorithm, await signer.sign(tbs));
    const read = readCertificate(der);
    return {
      pem: [der, ...chain].map(certificatePem).join(""),
      subject: read.subjectText,
      record: {
        serialNumber: toHex(read.serialNumber),
        spkiSha256: spkiSha256(read.spki),
        notAfterMs: read.notAfterMs,
      },
    };
  };
  if (publicKeyOf(about.ldevid) === null || publicKeyOf(about.ak) === null)
    throw new Error("a key of an unknown curve");
  const ldevid = await issue("ldevid", about.ldevid);
  const lak = await issue("lak", about.ak);
  return {
    ldevidPem: ldevid.pem,
    lakPem: lak.pem,
    identity: { ldevid: ldevid.record, lak: lak.record, subject: ldevid.subject, issuedAtMs: clock.nowMs() },
  };
}
