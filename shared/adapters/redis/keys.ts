/** Every key that fleetd keeps in Redis; all of them have a TTL. */
export interface Keys {
  /** Hash of one sealed configuration: code, run, type, sealed. TTL: the caller's (24 h, renewed by the pass). */
  config(deviceId: number): string;
  /** Hash of a claim: code, nonce, state (serving, finished, lost), until. Gone only by release or a new provision. */
  consumed(deviceId: number): string;
  /** Single-use markers and copies. TTL: the caller's. */
  value(key: string): string;
  lock(name: string): string;
}

/** How long a used code is remembered where nobody said how its response ended. @see spec/40-config-access.md */
export const CONSUMED_TTL_MS = 400 * 24 * 3600 * 1000;

export function keysUnder(prefix: string): Keys {
  return {
    config: (deviceId) => `${prefix}config:${deviceId}`,
    consumed: (deviceId) => `${prefix}consumed:${deviceId}`,
    value: (key) => `${prefix}value:${key}`,
    lock: (name) => `${prefix}lock:${name}`,
  };
}
