import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** What Go's crypto/x509 says of a certificate (main.go). */
export interface GoCertificate {
  readonly [field: string]: unknown;
}

let binary: string | null = null;

/** Whether Go is to be asked: FLEETD_TEST_NO_GO=1 leaves it out, as infra/tools/test.mjs does where there is none. */
export const WITH_GO = process.env.FLEETD_TEST_NO_GO !== "1";

/** Reads certificates (DER files) by Go; each is verified by the issuer's (PEM). */
export function readByGo(folder: string, issuer: string, certificates: readonly string[]): GoCertificate[] {
  if (binary === null) {
    binary = join(folder, "x509-reader");
    const source = join(import.meta.dirname, "main.go");
    execFileSync("go", ["build", "-o", binary, source], { stdio: "pipe", env: { ...process.env, GOFLAGS: "" } });
  }
  const lines = execFileSync(binary, [issuer, ...certificates], { encoding: "utf8" })
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as GoCertificate);
}
