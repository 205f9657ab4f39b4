import { base64url, EncryptJWT, errors, jwtDecrypt } from "jose";

export interface TokenKey {
  readonly kid: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

export type OpenedToken =
  | { readonly ok: true; readonly claims: unknown; readonly id: string; readonly expiresAtMs: number }
  | { readonly ok: false; readonly why: "expired" | "invalid" };

/** Seals claims for a machine to hand back: JWE `dir` + A256GCM, single-use by its id (spec/10, head). */
export async function sealToken(
  claims: object,
  key: TokenKey,
  about: { readonly idBytes: Uint8Array; readonly nowMs: number; readonly ttlMs: number },
): Promise<string> {
  return new EncryptJWT({ c: claims })
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: key.kid })
    .setJti(base64url.encode(about.idBytes))
    .setExpirationTime(Math.ceil((about.nowMs + about.ttlMs) / 1000))
    .encrypt(key.key);
}

/** Opens a token with whichever key made it. What is no token of ours is `invalid`; never why. */
export async function openToken(token: string, keys: readonly TokenKey[], nowMs: number): Promise<OpenedToken> {
  try {
    const { payload } = await jwtDecrypt(
      token,
      (header) => {
        const found = keys.find((k) => k.kid === header.kid);
        if (found === undefined) throw new errors.JWEInvalid("no key of that kid");
        return found.key;
      },
      { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"], currentDate: new Date(nowMs) },
    );
    if (typeof payload.jti !== "string" || typeof payload.exp !== "number") return { ok: false, why: "invalid" };
    return { ok: true, claims: payload.c, id: payload.jti, expiresAtMs: payload.exp * 1000 };
  } catch (error) {
    return { ok: false, why: error instanceof errors.JWTExpired ? "expired" : "invalid" };
  }
}
