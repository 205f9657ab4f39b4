import { base64url } from "jose";
import type { z } from "zod";
import type { RefusalCode } from "../attest/verdict.ts";
import type { Deps } from "./deps.ts";
import { openToken, sealToken, type TokenKey } from "./session-token.ts";

/** How a session key comes of a secret, a purpose and the store's mark: attest/session-key.ts, given by the caller. */
export type DeriveKey = (secret: Uint8Array, purpose: string, storeMark: string) => Uint8Array;

const MARK_MS = 400 * 24 * 3_600_000;

async function keys(deps: Deps, derive: DeriveKey): Promise<TokenKey[]> {
  const { store, entropy } = deps.world;
  let mark = await store.get("session-mark");
  if (mark === null) {
    await store.setOnce("session-mark", base64url.encode(entropy.bytes(16)), MARK_MS);
    mark = (await store.get("session-mark")) ?? "";
  }
  const held = mark;
  // The kid names the key, not its place: in a rotation the old key moves to the second place. One purpose for all
  // steps: a token of another one is told apart by its claims, and counts as used.
  return deps.sessionKeys.map((secret) => ({
    kid: base64url.encode(derive(secret, "attest kid", held).subarray(0, 8)),
    key: derive(secret, "attest", held),
  }));
}

/** A new single-use session token for the machine's next step. */
export async function newSession(deps: Deps, derive: DeriveKey, claims: object): Promise<string> {
  const [first] = await keys(deps, derive);
  if (first === undefined) throw new Error("FLEET_SESSION_KEY is empty");
  const { clock, entropy, settings } = deps.world;
  return sealToken(claims, first, {
    idBytes: entropy.bytes(16),
    nowMs: clock.nowMs(),
    ttlMs: settings.durations.sessionMs,
  });
}

export type Session<T> =
  | { readonly ok: true; readonly claims: T; readonly begunAtMs: number }
  | { readonly ok: false; readonly code: RefusalCode; readonly detail: string };

/**
 * Opens a token and spends it before anything it carries is looked at; a store that does not answer is 503, never
 * "unused". A token of another step counts as used.
 */
export async function takeSession<S extends z.ZodType>(
  deps: Deps,
  derive: DeriveKey,
  token: string,
  schema: S,
): Promise<Session<z.output<S>>> {
  const { clock, store, settings } = deps.world;
  const nowMs = clock.nowMs();
  const opened = await openToken(token, await keys(deps, derive), nowMs);
  if (!opened.ok) return { ok: false, code: "session-expired", detail: "the session is over; start again at begin" };
  const ttlMs = Math.max(opened.expiresAtMs - nowMs, 0) + settings.durations.sessionMarkerSlackMs;
  if (!(await store.setOnce(`session:${opened.id}`, "1", ttlMs)))
    return { ok: false, code: "session-used", detail: "the session was used already; start again at begin" };
  const claims = schema.safeParse(opened.claims);
  if (!claims.success)
    return { ok: false, code: "session-used", detail: "the session is of another step; start again at begin" };
  return { ok: true, claims: claims.data, begunAtMs: opened.expiresAtMs - settings.durations.sessionMs };
}
