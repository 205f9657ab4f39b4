import { certificateFingerprint } from "../../shared/attest/certificates.ts";
import { utf8 } from "../../shared/attest/hex.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import type { ReasonOf } from "../../shared/fleet/condition.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import { withAttention } from "../../shared/fleet/plan/quarantine.ts";
import type { Deps } from "../../shared/runtime/deps.ts";

const MAX_CLAIM_BYTES = 16 * 1024;
const MAX_CLAIMS_A_PEER = 5;
const MAX_CLAIMS = 1000;

/** Why a machine got no session: told to its device's owner too, where there is a device. */
export type ClaimCode = "unknown-serial" | ReasonOf<"MachineWaits">;

export interface Claim {
  readonly serial: string;
  readonly uuid: string;
  readonly eks: readonly {
    readonly digest: string;
    readonly certificate: string | null;
    /** Of the certificate, and what it says in all, where one was sent. */
    readonly issuer: string | null;
    readonly says: string | null;
  }[];
  readonly device: string | null;
  readonly code: ClaimCode;
  readonly detail: string;
  readonly at: string;
  readonly peer: string;
}

/**
 * Keeps what an unknown machine or key claims, bounded, for people to see: a claim is never proof. One a (device or
 * serial, EK set, UUID, peer): public areas are no secret, so who repeats them with another UUID or from elsewhere stands
 * beside the first and does not write over it. The device's own journal tells of it once a day.
 * @see spec/10-protocol.md section 1
 */
export async function keepClaim(deps: Deps, claim: Claim, device: Device | null): Promise<void> {
  const { store, settings, clock } = deps.world;
  const text = JSON.stringify(claim);
  const set = claim.eks
    .map((e) => e.digest)
    .sort()
    .join();
  // By the serial, also where a device has it by now: the same machine is no rival of itself.
  const serial = claim.serial.toLowerCase();
  const id = certificateFingerprint(utf8(`${serial} ${set} ${claim.uuid} ${claim.peer}`)).slice(0, 32);
  const all = await store.list("claim:", MAX_CLAIMS + 1);
  const known = all.some((c) => c.key === `claim:${id}`);
  const byPeer = all.filter((c) => (JSON.parse(c.value) as Claim).peer === claim.peer).length;
  const room = known || (all.length < MAX_CLAIMS && byPeer < MAX_CLAIMS_A_PEER);
  if (room && utf8(text).length <= MAX_CLAIM_BYTES) await store.put(`claim:${id}`, text, settings.durations.claimMs);
  const { code } = claim;
  if (device === null || code === "unknown-serial") return;
  const nowMs = clock.nowMs();
  const day = isoTime(nowMs).slice(0, 10);
  await updateRecord(deps.world, device, (r) => withAttention(r, code, claim.detail, `begin ${day}`, nowMs));
}
