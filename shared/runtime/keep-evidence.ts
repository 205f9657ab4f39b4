import { isPortError } from "../ports/error.ts";
import type { Deps } from "./deps.ts";

/** Keeps an attestation's bundle where people find it: a full disk is told and counted, and stops no machine. */
export async function keepEvidence(deps: Deps, device: string, atMs: number, bundle: object): Promise<void> {
  try {
    await deps.world.files.writeEvidence(device, atMs, `${JSON.stringify(bundle)}\n`);
  } catch (error) {
    if (!isPortError(error)) throw error;
    deps.log.error({ device, error: error.message }, "evidence not kept");
    deps.world.event({ kind: "evidence-lost", device, code: error.kind, text: error.message });
  }
}
