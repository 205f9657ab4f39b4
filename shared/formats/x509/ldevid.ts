import { type IssuedFields, tbsCertificate } from "./issued.ts";
import { OID } from "./oids.ts";

/**
 * TBSCertificate of an LDevID: the node's name for TLS, held by a key that is fixed to its TPM.
 * @see IEEE 802.1AR-2018 section 8; TCG TPM 2.0 Keys for Device Identity and Attestation, 8.2
 */
export function ldevidTbs(fields: IssuedFields): Uint8Array {
  const policies = [OID["tcg-cap-verifiedTPMResidency"], OID["tcg-cap-verifiedTPMFixed"]];
  return tbsCertificate(fields, OID.clientAuth, policies);
}
