import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Kinds of issuer keys, by the name of their files; `other-…` is another key of the same kind. */
export const KEY_KINDS = [
  { name: "p256", algorithm: "ecdsa-sha256", hash: "sha256", how: ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"] },
  { name: "p384", algorithm: "ecdsa-sha384", hash: "sha384", how: ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"] },
  { name: "rsa", algorithm: "rsa-sha256", hash: "sha256", how: ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"] },
] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** Issuers made by OpenSSL: `<name>.key` (PKCS#8), `<name>.pem` (self-signed CA, 30 days), `<name>.pub`. */
export class IssuerFiles {
  readonly folder = mkdtempSync(join(tmpdir(), "fleetd-issuer-"));

  constructor() {
    for (const { name, how } of KEY_KINDS) for (const prefix of ["", "other-"]) this.#make(`${prefix}${name}`, how);
  }

  at(name: string): string {
    return join(this.folder, name);
  }

  openssl(...args: string[]): string {
    return execFileSync("openssl", args, { cwd: this.folder, stdio: "pipe" }).toString();
  }

  /** Whether OpenSSL takes a DER signature over the bytes of a file for the key's. */
  verifies(kind: KeyKind, signatureFile: string, dataFile: string): boolean {
    try {
      const how = ["-verify", `${kind.name}.pub`, "-signature", signatureFile, dataFile];
      return this.openssl("dgst", `-${kind.hash}`, ...how).trim() === "Verified OK";
    } catch {
      return false;
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #make(name: string, how: readonly string[]): void {
    this.openssl("genpkey", "-algorithm", ...how, "-out", `${name}.key`);
    const self = ["-x509", "-new", "-key", `${name}.key`, "-days", "30", "-out", `${name}.pem`];
    const usage = ["-addext", "keyUsage=critical,keyCertSign,cRLSign"];
    this.openssl("req", ...self, "-subj", `/O=fleetd test/CN=Issuer ${name}`, ...usage);
    this.openssl("pkey", "-in", `${name}.key`, "-pubout", "-out", `${name}.pub`);
  }
}
