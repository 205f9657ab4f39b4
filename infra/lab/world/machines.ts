import { writeFileSync } from "node:fs";
import type { Material } from "./material.ts";
import { HOOKOS_MARKER, OS_MARKER } from "./material.ts";
import type { LabPaths } from "./paths.ts";

/** Options of the machines' process: where they boot from, what signed it, how they are reached. */
export function machinesOptions(
  paths: LabPaths,
  material: Material,
  at: {
    readonly bmcPort: number;
    readonly bmcAnswerMs: number;
    readonly tinkUrl: string;
    readonly deviceUrl: string;
    readonly swtpm: boolean;
    readonly attestTries: number;
  },
): unknown {
  const authorities = {
    good: paths.at("tls/secure-boot-operator.pem"),
    foreign: paths.at("tls/secure-boot-stranger.pem"),
  };
  writeFileSync(authorities.good, material.authority.good);
  writeFileSync(authorities.foreign, material.authority.foreign);
  return {
    directory: paths.at("machines"),
    bmcPort: at.bmcPort,
    bmcAnswerMs: at.bmcAnswerMs,
    tinkUrl: at.tinkUrl,
    deviceUrl: at.deviceUrl,
    caFile: paths.tls.ca,
    tpm: at.swtpm ? "swtpm" : "software",
    authorities,
    hookosCommandLine: `console=tty0 ${HOOKOS_MARKER} fleet_attest_url=${at.deviceUrl} tinkerbell_tls=true`,
    osCommandLine: `talos.platform=metal ${OS_MARKER}`,
    attestTries: at.attestTries,
    attestGapSeconds: 1,
    configGapMs: 200,
    configMaxGapMs: 1_000,
    csrTimeoutMs: 30_000,
  };
}
