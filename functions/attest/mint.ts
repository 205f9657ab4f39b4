import { CODE_RANDOM_BYTES, installCode } from "../../shared/attest/code.ts";
import { toHex } from "../../shared/attest/hex.ts";
import { readShownCertificate, recordedIdentity } from "../../shared/attest/node-certificate.ts";
import { codeHash, SEAL_RANDOM_BYTES, seal } from "../../shared/attest/seal.ts";
import type { ConfirmClaims } from "../../shared/attest/session.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { installedAs } from "../../shared/fleet/installed-name.ts";
import { nearestGateway } from "../../shared/fleet/networks.ts";
import { registry } from "../../shared/fleet/payload/registry.gen.ts";
import { type DeviceRecord, type IdentityRecord, type Run, unreadConfig } from "../../shared/fleet/record.ts";
import type { Deps } from "../../shared/runtime/deps.ts";

export type Minted =
  | { readonly ok: true; readonly code: string }
  | {
      readonly ok: false;
      readonly code: "config-being-served" | "pin-incomplete" | "code-consumed" | "run-preparing";
      readonly detail: string;
    };

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Characters of Kubernetes' token alphabet, unbiased: 252 is the largest multiple of 36 in a byte. */
function tokenText(random: (n: number) => Uint8Array, length: number): string {
  let out = "";
  while (out.length < length) for (const b of random(32)) if (b < 252 && out.length < length) out += ALPHABET[b % 36];
  return out;
}

function identityFiles(claims: ConfirmClaims): Record<string, string> {
  const files: Record<string, string> = {};
  const put = (name: string, content: string | null | undefined) => {
    if (content !== null && content !== undefined) files[name] = content;
  };
  put("ldevid.pem", claims.ldevid);
  put("lak.pem", claims.lak);
  put("ldevid.pub.b64", claims.ldevidPublic);
  put("ldevid.prv.b64", claims.ldevidPrivate);
  put("lak.pub.b64", claims.akPublic);
  put("lak.prv.b64", claims.akPrivate);
  return files;
}

/** The identity of this very session, as the payload carries it; null where its certificates are a visit's, or none. */
function sessionIdentity(claims: ConfirmClaims, lastsUntilMs: number): IdentityRecord | null {
  const ldevid = claims.ldevid === null ? null : readShownCertificate(claims.ldevid);
  const lak = claims.lak === null ? null : readShownCertificate(claims.lak);
  if (ldevid === null || lak === null || ldevid.notAfterMs <= lastsUntilMs) return null;
  return recordedIdentity({ ldevid, lak });
}

/**
 * The record with a new code: the earlier one, if unread, is void, and its token is owed a deletion. The identity goes
 * with the code: a session that comes later is given other certificates, but what is read is this configuration.
 */
function withCode(run: Run, hash: string, identity: IdentityRecord, tokenId: string | null, nowMs: number) {
  return (record: DeviceRecord): DeviceRecord | null => {
    if (record.run?.name !== run.name || record.run.phase === "ended") return null;
    const { config, token } = record;
    if (config !== null && config.run === run.name && config.state !== "unread" && config.state !== "removed")
      return null;
    const old = token !== null && token.deletedAtMs === null ? [{ do: "delete-token" as const, id: token.id }] : [];
    // Owed for an earlier configuration: what is stored next must not be dropped in its place.
    const due = record.due.filter((work) => work.do !== "drop-config");
    return {
      ...record,
      config: unreadConfig(hash, run.name, nowMs),
      pendingIdentity: identity,
      token:
        tokenId === null ? null : { id: tokenId, expiresAtMs: null, csr: null, contended: false, deletedAtMs: null },
      due: [...due, ...old],
      attention: null,
    };
  };
}

/**
 * One code at a time for a device: of two sessions of one machine at once, record and store would keep one code each,
 * and neither could be read.
 */
export async function mint(deps: Deps, device: Device, run: Run, claims: ConfirmClaims): Promise<Minted> {
  const { store, entropy, settings } = deps.world;
  const name = `mint:${device.id}`;
  const owner = toHex(entropy.bytes(16));
  if (!(await store.lock(name, owner, settings.durations.passLockMs)))
    return {
      ok: false,
      code: "run-preparing",
      detail: "another session of this machine is given a code; attest again",
    };
  try {
    return await mintAlone(deps, device, run, claims);
  } finally {
    await store.unlock(name, owner).catch(() => undefined);
  }
}

/**
 * Renders the payload, seals it under a new install code and stores both: hash in the record first, payload in the
 * store by the script that refuses while an earlier one is being served. The code itself is kept nowhere.
 * @see spec/40-config-access.md
 */
async function mintAlone(deps: Deps, device: Device, run: Run, claims: ConfirmClaims): Promise<Minted> {
  const { world } = deps;
  const random = (n: number) => world.entropy.bytes(n);
  const { class: cls, disk } = run;
  const renderer = cls === null ? undefined : registry[cls.class.payload];
  if (cls === null || disk === null || renderer === undefined)
    return { ok: false, code: "pin-incomplete", detail: "the run's class has no renderer" };
  if (device.address === null)
    return { ok: false, code: "pin-incomplete", detail: "the device has no primary address in NetBox" };
  const identity = sessionIdentity(claims, world.clock.nowMs() + world.settings.durations.visitIdentityMs);
  if (identity === null)
    return {
      ok: false,
      code: "run-preparing",
      detail: "its certificates are for an hour, not for a node; attest again",
    };
  const named = installedAs({ identity })?.name ?? device.name;
  if (named !== device.name)
    return {
      ok: false,
      code: "run-preparing",
      detail: `its certificates name ${named}, and the device is ${device.name} by now; attest again`,
    };
  const token = renderer.needsToken(cls) ? { id: tokenText(random, 6), secret: tokenText(random, 16) } : null;
  const { talosSecrets } = await world.policy.current();
  const near = nearestGateway(device.address, await world.netbox.gatewaysOf(device.address));
  if (!near.ok) return { ok: false, code: "pin-incomplete", detail: near.reason };
  const rendered = renderer.render({
    class: cls,
    name: device.name,
    serial: run.serial,
    uuid: claims.uuid,
    disk,
    mac: run.mac,
    address: device.address,
    gateway: near.gateway,
    token: token === null ? null : `${token.id}.${token.secret}`,
    talosSecrets,
    identityFiles: identityFiles(claims),
  });
  if (!rendered.ok) return { ok: false, code: "pin-incomplete", detail: rendered.reason };
  const code = installCode(random(CODE_RANDOM_BYTES));
  const hash = codeHash(code);
  const plain = new TextEncoder().encode(JSON.stringify({ token, body: rendered.body }));
  const context = { deviceId: device.id, runId: run.name, uuid: claims.uuid, contentType: rendered.contentType };
  const sealed = seal(code, plain, context, random(SEAL_RANDOM_BYTES));
  const nowMs = world.clock.nowMs();
  let kept = false;
  let serving = false;
  await updateRecord(world, device, (r) => {
    // Of an earlier run too: its reader must find its own claim at the end, else nobody would know that it was served.
    serving = r.config?.state === "serving";
    const next = serving ? null : withCode(run, hash, identity, token?.id ?? null, nowMs)(r);
    kept = next !== null;
    return next;
  });
  if (serving)
    return { ok: false, code: "config-being-served", detail: "an earlier configuration is being served right now" };
  if (!kept) return { ok: false, code: "run-preparing", detail: "the run moved on meanwhile; attest again" };
  const { durations } = world.settings;
  // A code of an earlier run may stand as consumed: this one is another provision, by the owner's fresh request.
  await world.store.dropConfig(device.id, true);
  const stored = await world.store.putConfig(
    { deviceId: device.id, codeHash: hash, runId: run.name, contentType: rendered.contentType, sealed },
    durations.configMs,
  );
  if (stored === "stored") return { ok: true, code };
  return { ok: false, code: "config-being-served", detail: "an earlier configuration is being served right now" };
}
