import type { Context } from "hono";
import { sameText } from "../../shared/attest/activation.ts";
import { isCodeShaped } from "../../shared/attest/code.ts";
import { codeHash } from "../../shared/attest/seal.ts";
import { othersInstalledAs } from "../../shared/engine/inventory.ts";
import { parseRecord, updateRecord } from "../../shared/engine/records.ts";
import { isUuid } from "../../shared/fleet/conflicts.ts";
import { configAccess, configuredName, noteOf, READING } from "../../shared/fleet/plan/config-access.ts";
import { withAttention } from "../../shared/fleet/plan/quarantine.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import type { RateLimit } from "../../shared/runtime/limits.ts";
import { peerOf } from "../../shared/runtime/peer.ts";
import { serveOnce } from "./serve.ts";
import { refuse } from "./text.ts";

const NOBODY = "00000000-0000-4000-8000-000000000000";
const NO_CODE_HASH = "0".repeat(64);

export interface Failures {
  readonly perPeer: RateLimit;
  readonly inAll: RateLimit;
}

const DETAILS = {
  "code-consumed": "served before",
  "config-missing": "the configuration is lost: request provision again",
  "not-planned": "the device is not planned",
  "config-being-served": "another reader is at it",
  "identity-changed": "serial or approved EKs changed",
} as const;

/** The record whose UUID and code hash both fit, or null: an unknown UUID takes the same way and time as a wrong code. */
async function recordFor(deps: Deps, uuid: string, code: string): Promise<DeviceRecord | null> {
  const stored = await deps.world.records.byUuid(isUuid(uuid) ? uuid : NOBODY);
  const hash = codeHash(code);
  let found: DeviceRecord | null = null;
  for (const one of stored) {
    const record = parseRecord(one);
    if (sameText(record.config?.codeHash ?? NO_CODE_HASH, hash) && record.config !== null) found = record;
  }
  return isCodeShaped(code) ? found : null;
}

/**
 * GET of a configuration or seed by UUID and install code: once.
 * @see spec/40-config-access.md
 */
export async function getConfig(deps: Deps, c: Context, failures: Failures): Promise<Response> {
  if (c.req.raw.method !== "GET") return refuse(c, "method-not-allowed", "GET only");
  const peer = peerOf(c, deps.trustedProxies);
  const uuid = (c.req.query("uuid") ?? "").toLowerCase();
  const code = c.req.query("code") ?? "";
  const record = await recordFor(deps, uuid, code);
  const { world } = deps;
  const nowMs = world.clock.nowMs();
  if (record === null || record.config === null) {
    const slow = !failures.perPeer.allow(peer, nowMs) || !failures.inAll.allow("all", nowMs);
    return slow ? refuse(c, "rate-limited", "too many wrong codes") : refuse(c, "not-found", "no such configuration");
  }
  const { config } = record;
  const device = await world.netbox.device(record.deviceId);
  if (device === null) return refuse(c, "inventory-unavailable", "try again");
  const access = configAccess(record, device, config, peer);
  if (access.answer === "serve") {
    const name = configuredName(device, record);
    const others = await othersInstalledAs(world, device.id, name);
    if (others === null) return serveOnce(deps, c, { device, config, uuid, code, peer });
    // Renamed since it was minted, and the name was given away: two nodes would bear it, and one would lose its CSRs.
    const detail = `its configuration is for a node ${name}, and ${others} was installed as that: correct NetBox`;
    await updateRecord(world, device, (r) => withAttention(r, "inventory-conflict", detail, READING, nowMs));
    return refuse(c, "inventory-conflict", detail);
  }
  const note = noteOf(access.code, config.codeHash, nowMs);
  if (note !== null) await updateRecord(world, device, note);
  return refuse(c, access.code, DETAILS[access.code]);
}
