import { nodeCommonName } from "../../shared/attest/certificates.ts";
import {
  type NodeCertificateKind,
  nodeCertificateKind,
  nodeCertificateProblem,
  nodeSubject,
} from "../../shared/attest/node-certificate.ts";
import { FormatError } from "../../shared/formats/error.ts";
import { type Certificate, readCertificate } from "../../shared/formats/x509/certificate.ts";
import { readCertificatePems } from "../../shared/formats/x509/pem.ts";

export interface Shown {
  readonly ldevid: Certificate;
  readonly lak: Certificate;
}

/** The one LDevID and the one LAK of a PEM text, or what is wrong with it. */
export function shownCertificates(pem: string): Shown | string {
  const found: Record<NodeCertificateKind, Certificate[]> = { ldevid: [], lak: [] };
  try {
    for (const der of readCertificatePems(pem)) {
      const certificate = readCertificate(der);
      const kind = nodeCertificateKind(certificate);
      if (kind !== null) found[kind].push(certificate);
    }
  } catch (error) {
    if (error instanceof FormatError) return error.message;
    throw error;
  }
  const [ldevid] = found.ldevid;
  const [lak] = found.lak;
  if (ldevid !== undefined && lak !== undefined && found.ldevid.length === 1 && found.lak.length === 1)
    return { ldevid, lak };
  return `holds ${found.ldevid.length} LDevID and ${found.lak.length} LAK certificates: it must be one of each`;
}

/** Why the two are no identity of that device, or null: issuers, policies, name, TPM, chassis serial. */
export function shownProblem(
  { ldevid, lak }: Shown,
  of: {
    readonly device: { readonly name: string; readonly serial: string };
    readonly approvedEks: readonly string[];
    readonly trusted: readonly Uint8Array[];
    readonly nowMs: number;
  },
): string | null {
  for (const [kind, certificate] of [
    ["ldevid", ldevid],
    ["lak", lak],
  ] as const) {
    const wrong = nodeCertificateProblem(kind, certificate, of.trusted, of.nowMs);
    if (wrong !== null) return `${kind}: ${wrong}`;
    const subject = nodeSubject(certificate);
    const expected = nodeCommonName(of.device.name, of.approvedEks);
    if (subject?.commonName !== expected)
      return `${kind}: its CN is ${subject?.commonName ?? "not there"}; ${of.device.name} with its approved EKs is ${expected}`;
    if (subject.chassisSerial.toLowerCase() !== of.device.serial.toLowerCase())
      return `${kind}: its serialNumber is ${subject.chassisSerial}; ${of.device.name} has ${of.device.serial}`;
  }
  return null;
}
