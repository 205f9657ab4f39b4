import { isIP } from "node:net";

/** An address as NetBox stores and tells it. */
export interface Address {
  readonly host: string;
  /** null: none was written. */
  readonly length: number | null;
}

const BITS = { 4: 32, 6: 128 } as const;

/** A host as NetBox writes it (RFC 5952), or null for what is none; an IPv4 one within IPv6 and one with a zone are none. */
export function canonicalHost(text: string): string | null {
  if (isIP(text) === 4) return text;
  if (isIP(text) !== 6 || text.includes("%")) return null;
  const host = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  return host.startsWith("::ffff:") ? null : host;
}

/** `host` or `host/length`, or null for what is neither; NetBox takes no length of nothing. */
export function parseAddress(text: string): Address | null {
  const [before = "", length, ...more] = text.split("/");
  const host = canonicalHost(before);
  if (host === null || more.length > 0) return null;
  if (length === undefined) return { host, length: null };
  return /^[1-9]\d{0,2}$/.test(length) && Number(length) <= bitsIn(host) ? { host, length: Number(length) } : null;
}

export function addressText({ host, length }: Address): string {
  return length === null ? host : `${host}/${length}`;
}

/** @returns the length with which one host is a whole network */
export function bitsIn(host: string): number {
  return host.includes(":") ? BITS[6] : BITS[4];
}

/** Where in its network an address lies: neither may be an interface's, and a prefix begins with its network's own. */
export function placeOf({ host, length }: Address): "network" | "broadcast" | "host" {
  const bits = bitsIn(host);
  const size = 1n << BigInt(bits - (length ?? bits));
  const rest = numberOf(host) % size;
  return rest === 0n ? "network" : rest === size - 1n && bits === BITS[4] ? "broadcast" : "host";
}

/** True where a network has no room for addresses of its own: each of its addresses is a host's. */
export function isPointToPoint({ host, length }: Address): boolean {
  return length === null || bitsIn(host) - length <= 1;
}

function numberOf(host: string): bigint {
  if (!host.includes(":")) return host.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = [], tail = []] = host.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}
