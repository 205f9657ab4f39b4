import type { SignerPort } from "../../ports/signer.ts";
import { type CommandOptions, createCommandSigner } from "./command.ts";
import { createKeyFileSigner, type KeyFileOptions } from "./key-file.ts";
import { createPkcs11Signer, type Pkcs11Options } from "./pkcs11.ts";

export type SignerOptions =
  | ({ readonly kind: "key-file" } & KeyFileOptions)
  | ({ readonly kind: "pkcs11" } & Pkcs11Options)
  | ({ readonly kind: "command" } & CommandOptions);

/** The issuer of the settings. @throws PortError rejected where a person must act before fleetd can start */
export function createSigner(options: SignerOptions): Promise<SignerPort> {
  if (options.kind === "pkcs11") return createPkcs11Signer(options);
  return options.kind === "command" ? createCommandSigner(options) : createKeyFileSigner(options);
}
