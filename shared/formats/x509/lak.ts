import { type IssuedFields, tbsCertificate } from "./issued.ts";
import { OID } from "./oids.ts";

/**
 * TBSCertificate of a LAK: the restricted key whose quotes renew the node's identity.
 * @see TCG TPM 2.0 Keys for Device Identity and Attestation, 8.3
 */
export function lakTbs(fields: IssuedFields): Uint8Array {
  const policies = [OID["tcg-cap-verifiedTPMResidency"], OID["tcg-cap-verifiedTPMRestricted"]];
  return tbsCertificate(fields, OID["tcg-kp-AIKCertificate"], policies);
}
