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
