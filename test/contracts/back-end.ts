import { issuedContract } from "./issued.ts";
import type { IssuerFiles } from "./issuer-files.ts";
import { type MakeSigner, signerContract } from "./signer.ts";

/** All that a place of the issuer's key must do: sign as the port says, and so that certificates are as the specification says. */
export function backEndContract(files: () => IssuerFiles, make: MakeSigner): void {
  signerContract(files, make);
  issuedContract(files, make);
}
