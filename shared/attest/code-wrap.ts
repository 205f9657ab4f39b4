import { utf8 } from "./hex.ts";
import { type Credential, makeCredential } from "./make-credential.ts";

/**
 * The install code as a credential: it opens only in the TPM that holds the EK and has the attested AK loaded.
 * @throws FormatError, RangeError as makeCredential does
 */
export function wrapInstallCode(input: {
  readonly ekPublic: Uint8Array;
  readonly akName: Uint8Array;
  readonly code: string;
  readonly random: (lengthBytes: number) => Uint8Array;
}): Credential {
  const { ekPublic, akName, code, random } = input;
  return makeCredential({ ekPublic, name: akName, secret: utf8(code), random });
}
