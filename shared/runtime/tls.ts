import { readFileSync, watchFile } from "node:fs";
import type { Server as HttpServer } from "node:http";
import type { SecureContextOptions, Server as TlsServer } from "node:tls";
import { adminCaFault } from "./auth.ts";

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** CA of client certificates, or null where none is asked for. */
  readonly clientCa: string | null;
}

const LOOK_AGAIN_MS = 10_000;

export function readTls(files: TlsFiles): SecureContextOptions {
  const cert = readFileSync(files.cert);
  const key = readFileSync(files.key);
  return files.clientCa === null ? { cert, key } : { cert, key, ca: readFileSync(files.clientCa) };
}

/** Takes renewed certificate files without a restart; files that do not fit together leave the old ones in use. */
export function followTls(
  server: HttpServer | TlsServer,
  files: TlsFiles,
  say: (text: string) => void,
  lookAgainMs = LOOK_AGAIN_MS,
): void {
  const reload = () => {
    try {
      if ("setSecureContext" in server) server.setSecureContext(readTls(files));
      say(`certificate ${files.cert} read again`);
    } catch (error) {
      say(`certificate ${files.cert} cannot be used, the old one stays: ${(error as Error).message}`);
    }
  };
  const paths = [files.cert, files.key, ...(files.clientCa === null ? [] : [files.clientCa])];
  for (const path of paths) watchFile(path, { interval: lookAgainMs, persistent: false }, reload);
}

/**
 * LDevIDs carry clientAuth: an admin CA that is, or issued, the device CA would let every machine in.
 * @throws Error
 */
export function refuseDeviceCaAsAdminCa(adminCaFile: string, deviceChainFile: string): void {
  const fault = adminCaFault(readFileSync(adminCaFile, "utf8"), readFileSync(deviceChainFile, "utf8"));
  if (fault !== null) throw new Error(`FLEET_ADMIN_CA: ${fault}`);
}
