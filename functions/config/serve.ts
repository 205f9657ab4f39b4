import type { Context } from "hono";
import { toHex } from "../../shared/attest/hex.ts";
import { open } from "../../shared/attest/seal.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import type { Device } from "../../shared/fleet/device.ts";
import {
  claimed,
  configuredName,
  contendedBy,
  missing,
  outrun,
  refetched,
  released,
  served,
  turnsActive,
} from "../../shared/fleet/plan/config-access.ts";
import type { ConfigRecord, DeviceRecord } from "../../shared/fleet/record.ts";
import { isPortError } from "../../shared/ports/error.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { refuse } from "./text.ts";
import { watchedBody } from "./watched-body.ts";

interface Serving {
  readonly device: Device;
  readonly config: ConfigRecord;
  readonly uuid: string;
  readonly code: string;
  readonly nonce: string;
  readonly peer: string;
}

/** What lies in the seal: the node's bootstrap token and the payload. */
interface Sealed {
  readonly token: { readonly id: string; readonly secret: string } | null;
  readonly body: string;
}

async function giveBack(deps: Deps, s: Serving, broke: { bytesSent: number } | null): Promise<void> {
  const { clock, store, settings } = deps.world;
  let over = false;
  try {
    const { config } = await updateRecord(deps.world, s.device, released(s.nonce, broke, clock.nowMs()));
    // Its device was retired, or the serving given up for lost, meanwhile: nobody reads it any more.
    over = config?.codeHash !== s.config.codeHash || (config.state !== "unread" && config.state !== "serving");
  } finally {
    // The record alone decides: where it could not be written it still says serving, and nothing is served twice.
    const [outcome, ttlMs] = over ? (["finish", settings.durations.consumedMs] as const) : (["release", 0] as const);
    await store.settleConfig(s.device.id, s.nonce, outcome, ttlMs);
  }
}

/** Claims in the record, which is the claim that counts. Null: another reader came first, and the store's is released. */
async function claimRecord(deps: Deps, s: Serving, nowMs: number): Promise<DeviceRecord | null> {
  let won = false;
  let record: DeviceRecord;
  try {
    record = await updateRecord(deps.world, s.device, (r) => {
      const next = claimed(s.config.codeHash, s.nonce, s.peer, nowMs)(r);
      won = next !== null;
      return next;
    });
  } catch (error) {
    await giveBack(deps, s, null).catch(() => undefined);
    throw error;
  }
  if (won) return record;
  await deps.world.store.settleConfig(s.device.id, s.nonce, "release", 0);
  return null;
}

/**
 * When the node's token ends, decided once and in the record before the Secret is made: a reader that comes again after
 * a break gets the same Secret. Null: it is over; an expired token is never renewed.
 */
async function tokenExpiry(deps: Deps, s: Serving, record: DeviceRecord, id: string): Promise<number | null> {
  const { clock, settings } = deps.world;
  const held = record.token?.id === id ? record.token : null;
  if (held !== null && held.deletedAtMs !== null) return null;
  if (held !== null && held.expiresAtMs !== null) return held.expiresAtMs > clock.nowMs() ? held.expiresAtMs : null;
  const expiresAtMs = clock.nowMs() + settings.durations.tokenExpiryMs;
  await updateRecord(deps.world, s.device, (r) =>
    r.token?.id === id ? { ...r, token: { ...r.token, expiresAtMs } } : null,
  );
  return expiresAtMs;
}

/**
 * The old Node, its CSRs and token go before the new kubelet comes, which then inherits nothing; the token is made.
 * False where the token is over.
 */
async function prepareCluster(deps: Deps, s: Serving, record: DeviceRecord, token: Sealed["token"]): Promise<boolean> {
  const { cluster } = deps.world;
  if (token === null) return true;
  const expiresAtMs = await tokenExpiry(deps, s, record, token.id);
  if (expiresAtMs === null) return false;
  const name = configuredName(s.device, record);
  // The old Node may have been installed under another name than the new one.
  const old = record.node;
  const [node] = old === null ? [] : await cluster.nodes([old.name]);
  if (node !== undefined && old?.uid === node.uid) await cluster.deleteNode(node.name, node.uid);
  const names = new Set([name, old?.name ?? name].map((one) => `system:node:${one}`));
  for (const csr of await cluster.csrs())
    if (csr.request !== null && names.has(csr.request.commonName)) await cluster.deleteCsr(csr.name, csr.uid);
  for (const work of record.due) if (work.do === "delete-token") await cluster.deleteToken(work.id);
  await cluster.createToken({ id: token.id, deviceId: s.device.id, node: name, expiresAtMs }, token.secret);
  return true;
}

async function finish(deps: Deps, s: Serving): Promise<void> {
  const { world } = deps;
  const record = await updateRecord(world, s.device, served(s.nonce, world.clock.nowMs()));
  await world.store.settleConfig(s.device.id, s.nonce, "finish", world.settings.durations.consumedMs);
  try {
    const { device } = s;
    // Where a pass gave the serving up for lost, the record stays so, and nothing turns active on it. Over the very row
    // that the serving began with: what an owner has set since is the pass's to weigh, with the change log.
    if (turnsActive(device, record, s.nonce))
      await world.netbox.patchDevice(device.id, { status: "active" }, device.lastUpdated);
  } catch (error) {
    // The record says served; the pass sets NetBox.
    if (!isPortError(error)) throw error;
    deps.log.info({ device: s.device.name, error: error.message }, "active is left to the pass");
  }
}

/** Claims in store and record, prepares the cluster, hands the payload out as one body, and settles how it ended. */
export async function serveOnce(deps: Deps, c: Context, about: Omit<Serving, "nonce">): Promise<Response> {
  const { world } = deps;
  const { durations } = world.settings;
  const s: Serving = { ...about, nonce: toHex(world.entropy.bytes(16)) };
  const { device, config } = s;
  const nowMs = world.clock.nowMs();
  const claim = await world.store.claimConfig(device.id, config.codeHash, s.nonce, durations.configLeaseMs);
  switch (claim.state) {
    case "claimed":
      break;
    case "serving":
      await updateRecord(world, device, contendedBy(config.codeHash, nowMs));
      return refuse(c, "config-being-served", "another reader is at it");
    case "consumed":
    case "lost":
      await updateRecord(world, device, refetched(config.codeHash, nowMs));
      return refuse(c, "code-consumed", "served before");
    default:
      await updateRecord(world, device, missing(config.codeHash, nowMs));
      return refuse(c, "config-missing", "the configuration is lost: request provision again");
  }
  const record = await claimRecord(deps, s, nowMs);
  if (record === null) {
    await updateRecord(world, device, outrun(config.codeHash, s.peer, nowMs));
    return refuse(c, "config-being-served", "another reader is at it");
  }
  try {
    const context = { deviceId: device.id, runId: claim.runId, uuid: s.uuid, contentType: claim.contentType };
    const plain = open(s.code, claim.sealed, context);
    if (plain === null) throw new Error("the stored configuration does not open with its code");
    const { token, body } = JSON.parse(new TextDecoder().decode(plain)) as Sealed;
    if (!(await prepareCluster(deps, s, record, token))) {
      await giveBack(deps, s, null);
      await updateRecord(world, device, missing(config.codeHash, nowMs));
      return refuse(c, "config-missing", "its token is over: request provision again");
    }
    const payload = new TextEncoder().encode(body);
    const given = watchedBody(c, payload, claim.contentType, {
      renewEveryMs: durations.configLeaseMs / 3,
      atMostMs: durations.configServingMs,
      renew: async () => {
        await world.store.settleConfig(device.id, s.nonce, "renew", durations.configLeaseMs);
      },
      done: () => finish(deps, s),
      broke: (bytesSent) => giveBack(deps, s, { bytesSent }),
      log: deps.log,
      sleep: deps.sleep,
    });
    if (given !== null) return given;
    await giveBack(deps, s, null);
    return refuse(c, "config-being-served", "ask once a connection: another answer is before this one");
  } catch (error) {
    await giveBack(deps, s, null).catch(() => undefined);
    throw error;
  }
}
