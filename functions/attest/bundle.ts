import { toBase64 } from "../../shared/attest/hex.ts";
import type { EvidenceClaims } from "../../shared/attest/session.ts";
import { attestQualifyingData } from "../../shared/attest/session.ts";
import type { Verdict } from "../../shared/attest/verdict.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { isoTime } from "../../shared/fleet/plan/shown.ts";
import { isPortError } from "../../shared/ports/error.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { bytes } from "./bytes.ts";

interface Sent {
  readonly quote: { readonly attest: string; readonly signature: string };
  readonly pcrs: Readonly<Record<string, string>>;
  readonly eventLog: string;
  readonly ldevidCertify: { readonly attest: string; readonly signature: string };
  readonly report: string;
}

/** Keeps an attestation's inputs and verdict as one bundle that is verified again offline (spec/20, "Evidence bundles"). */
export async function keepEvidence(
  deps: Deps,
  device: Device,
  sent: Sent,
  claims: EvidenceClaims,
  judged: { readonly verdict: Verdict; readonly secureBoot: "required" | "off" | null },
): Promise<void> {
  const { verdict, secureBoot } = judged;
  const { files, clock } = deps.world;
  const atMs = clock.nowMs();
  const bundle = {
    device: device.name,
    at: isoTime(atMs),
    purpose: "intake",
    profile: verdict.profile,
    secureBoot,
    akPublic: claims.akPublic,
    ldevidPublic: claims.ldevidPublic,
    quote: sent.quote,
    certify: sent.ldevidCertify,
    expectedExtraData: toBase64(attestQualifyingData(bytes(claims.nonce), bytes(sent.report))),
    challenge: { nonce: claims.nonce },
    request: { bank: claims.bank, select: claims.select },
    pcrs: { [claims.bank]: sent.pcrs },
    eventLog: sent.eventLog,
    report: sent.report,
    verdict,
  };
  try {
    await files.writeEvidence(device.name, atMs, `${JSON.stringify(bundle)}\n`);
  } catch (error) {
    // Evidence is a copy for people: a full disk is told, and stops no machine.
    if (!isPortError(error)) throw error;
    deps.log.error({ device: device.name, error: error.message }, "evidence not kept");
  }
}
