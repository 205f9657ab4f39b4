/** Parses an IPv4 or IPv6 address to its bits, or null. */
function bits(address: string): { readonly family: 4 | 6; readonly value: bigint } | null {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) {
    const parts = address.split(".").map(Number);
    if (parts.some((p) => p > 255)) return null;
    return { family: 4, value: parts.reduce((v, p) => (v << 8n) | BigInt(p), 0n) };
  }
  if (!/^[0-9a-f:]+$/i.test(address) || (address.match(/::/g) ?? []).length > 1) return null;
  const [head = "", tail] = address.split("::");
  const groups = (t: string) => (t === "" ? [] : t.split(":"));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const all = [...left, ...Array<string>(Math.max(missing, 0)).fill("0"), ...right];
  if (all.some((g) => !/^[0-9a-f]{1,4}$/i.test(g))) return null;
  return { family: 6, value: all.reduce((v, g) => (v << 16n) | BigInt(`0x${g}`), 0n) };
}

/** True where the address lies in one of the CIDR networks; an address that cannot be read lies in none. */
export function inNetworks(address: string, networks: readonly string[]): boolean {
  const a = bits(address);
  if (a === null) return false;
  return networks.some((network) => {
    const [base = "", prefix = ""] = network.split("/");
    const n = bits(base);
    if (n === null || n.family !== a.family || !/^\d{1,3}$/.test(prefix)) return false;
    const width = a.family === 4 ? 32 : 128;
    const length = Number(prefix);
    return length <= width && a.value >> BigInt(width - length) === n.value >> BigInt(width - length);
  });
}

/** A prefix of NetBox's with the gateway that its owner gave it. */
export interface PrefixGateway {
  /** CIDR. */
  readonly prefix: string;
  readonly gateway: string;
}

/**
 * The gateway of the longest prefix that holds the address; null where none does.
 * @param address with or without a prefix length
 * @see spec/40-config-access.md "Payload kinds"
 */
export function nearestGateway(
  address: string,
  prefixes: readonly PrefixGateway[],
): { readonly ok: true; readonly gateway: string | null } | { readonly ok: false; readonly reason: string } {
  const [host = ""] = address.split("/");
  const lengthOf = ({ prefix }: PrefixGateway) => Number(prefix.split("/")[1]);
  const holding = prefixes.filter(({ prefix }) => inNetworks(host, [prefix]));
  const longest = Math.max(...holding.map(lengthOf));
  const [nearest, ...others] = holding.filter((one) => lengthOf(one) === longest);
  if (nearest === undefined) return { ok: true, gateway: null };
  const { prefix, gateway } = nearest;
  // The same prefix in two VRFs.
  if (others.some((other) => other.gateway !== gateway))
    return { ok: false, reason: `NetBox has prefix ${prefix} more than once, with different gateways` };
  if (!inNetworks(gateway, [prefix]))
    return { ok: false, reason: `the gateway of NetBox's prefix ${prefix} lies outside of it, or is no address` };
  return { ok: true, gateway };
}
