import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Boot } from "./firmware.ts";
import { pemBytes } from "./pem.ts";

/** What all machines of a lab share; addresses may come later, when their servers are up. */
export interface Site {
  /** Each machine has a folder in it. */
  readonly directory: string;
  /** Base URL of fleetd's device listener: attestation and configurations. */
  deviceUrl: string;
  /** PEM file of the CA that machines trust for it. */
  caFile: string;
  /** Base URL of the Tink server. */
  tinkUrl: string;
  /** PEM files of the authorities that sign what boots: the operator's, and one that no profile accepts. */
  readonly authorities: { readonly good: string; readonly foreign: string };
  readonly hookosCommandLine: string;
  readonly osCommandLine: string;
  readonly attestTries?: number;
  readonly attestGapSeconds?: number;
  /** First gap between tries to get a configuration; it doubles to `configMaxGapMs`. */
  readonly configGapMs?: number;
  readonly configMaxGapMs?: number;
  /** How long a kubelet waits for its certificate before it asks again. */
  readonly csrTimeoutMs?: number;
}

export type FirmwareKind = "good" | "foreign";

/** What a machine's firmware boots at a stage. */
export function bootOf(site: Site, kind: FirmwareKind, commandLine: string): Boot {
  const authority = pemBytes(readFileSync(site.authorities[kind], "utf8"));
  return { authority, dbCertificates: [authority], commandLine, secureBoot: true };
}

/** Folder of a machine. */
export function folderOf(site: Site, name: string): string {
  return join(site.directory, name);
}
