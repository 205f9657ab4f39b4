import { randomBytes } from "node:crypto";
import { CompactEncrypt } from "jose";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMemoryStore } from "../../../shared/adapters/memory/store.ts";
import { sessionKey } from "../../../shared/attest/session-key.ts";
import { newSession, takeSession } from "../../../shared/runtime/session.ts";
import { openToken, sealToken, type TokenKey } from "../../../shared/runtime/session-token.ts";
import type { FakeDeps } from "../../fakes/world.ts";
import { SETTINGS } from "../../scenarios/fixtures.ts";

const key = (kid: string): TokenKey => ({ kid, key: randomBytes(32) });
const A = key("a");
const nowMs = Date.UTC(2026, 10, 29, 12);
const seal = (by = A, ttlMs = 600_000) => sealToken({ step: "x" }, by, { idBytes: randomBytes(16), nowMs, ttlMs });

describe("a session token", () => {
  it("opens with its key, among others, until its time", async () => {
    const token = await seal();
    const opened = await openToken(token, [key("b"), A], nowMs + 599_000);
    expect(opened).toMatchObject({ ok: true, claims: { step: "x" }, expiresAtMs: nowMs + 600_000 });
    expect(await openToken(token, [A], nowMs + 601_000)).toEqual({ ok: false, why: "expired" });
  });

  it("does not open with another key, under another kid, or when any part was touched", async () => {
    const token = await seal();
    expect((await openToken(token, [{ ...key("x"), kid: "a" }], nowMs)).ok).toBe(false);
    expect((await openToken(token, [{ ...A, kid: "b" }], nowMs)).ok).toBe(false);
    expect((await openToken(token, [], nowMs)).ok).toBe(false);
    const parts = token.split(".");
    for (const i of [0, 2, 3, 4]) {
      const bytes = Buffer.from(parts[i] ?? "", "base64url");
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      const touched = parts.map((part, n) => (n === i ? bytes.toString("base64url") : part)).join(".");
      expect((await openToken(touched, [A], nowMs)).ok).toBe(false);
    }
  });

  it("of another algorithm, without id or end: no", async () => {
    const made = (payload: object, header: { alg: string; enc: string }) =>
      new CompactEncrypt(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ ...header, kid: "a" })
        .encrypt(A.key);
    const end = nowMs / 1000 + 60;
    const direct = { alg: "dir", enc: "A256GCM" };
    expect((await openToken(await made({ jti: "i", exp: end, c: 1 }, direct), [A], nowMs)).ok).toBe(true);
    expect((await openToken(await made({ exp: end, c: 1 }, direct), [A], nowMs)).ok).toBe(false);
    expect((await openToken(await made({ jti: "i", c: 1 }, direct), [A], nowMs)).ok).toBe(false);
    const wrapped = await made({ jti: "i", exp: end, c: 1 }, { alg: "A256GCMKW", enc: "A256GCM" });
    expect((await openToken(wrapped, [A], nowMs)).ok).toBe(false);
  });

  it("shows nothing of its claims", async () => {
    expect(Buffer.from(await seal(), "base64url").toString("latin1")).not.toContain("step");
  });
});

describe("a session", () => {
  const clock = { nowMs: () => nowMs };
  const schema = z.object({ step: z.literal("evidence") });
  const secrets = [randomBytes(32), randomBytes(32)] as const;
  const depsOf = (sessionKeys: readonly Uint8Array[], store = createMemoryStore(clock)) =>
    ({
      sessionKeys,
      world: { store, clock, entropy: { bytes: (n: number) => new Uint8Array(randomBytes(n)) }, settings: SETTINGS },
    }) as unknown as FakeDeps;

  it("outlives a rotation: the old key moves to the second place, and is dropped later", async () => {
    const store = createMemoryStore(clock);
    const [old, fresh] = secrets;
    const token = await newSession(depsOf([old], store), sessionKey, { step: "evidence" });
    const next = await newSession(depsOf([old], store), sessionKey, { step: "evidence" });
    expect(await takeSession(depsOf([fresh, old], store), sessionKey, token, schema)).toMatchObject({ ok: true });
    expect(await takeSession(depsOf([fresh], store), sessionKey, next, schema)).toMatchObject({
      ok: false,
      code: "session-expired",
    });
  });

  it("is taken once; one of another step counts as used, and is", async () => {
    const deps = depsOf([secrets[0]]);
    const token = await newSession(deps, sessionKey, { step: "evidence" });
    expect((await takeSession(deps, sessionKey, token, schema)).ok).toBe(true);
    expect(await takeSession(deps, sessionKey, token, schema)).toMatchObject({ code: "session-used" });
    const other = await newSession(deps, sessionKey, { step: "confirm" });
    expect(await takeSession(deps, sessionKey, other, schema)).toMatchObject({ code: "session-used" });
    const confirm = z.object({ step: z.literal("confirm") });
    expect(await takeSession(deps, sessionKey, other, confirm)).toMatchObject({ code: "session-used" });
  });

  it("ends with a flushed store", async () => {
    const token = await newSession(depsOf([secrets[0]]), sessionKey, { step: "evidence" });
    expect(await takeSession(depsOf([secrets[0]]), sessionKey, token, schema)).toMatchObject({
      code: "session-expired",
    });
  });
});
