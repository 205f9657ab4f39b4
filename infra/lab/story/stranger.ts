import { createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import {
  writeCertificationRequest,
  writeCertificationRequestInfo,
} from "../../../shared/formats/x509/certification-request.ts";
import { pem } from "../kubernetes/authority.ts";

/** A kubelet's request for a node's name by somebody's own key, as spec.request carries it. */
export function kubeletRequest(nodeName: string): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const info = writeCertificationRequestInfo(
    { organizations: ["system:nodes"], commonName: `system:node:${nodeName}` },
    spki,
  );
  const der = writeCertificationRequest(info, sign("sha256", info, privateKey));
  return Buffer.from(pem("CERTIFICATE REQUEST", der)).toString("base64");
}
