import { isIP } from "node:net";

/** An address or prefix as NetBox stores it, whatever its spelling, or null for what is none. */
export function stored(text: string): string | null {
  const [host = "", length = ""] = text.split("/");
  const family = isIP(host);
  if (family === 0 || host.includes("%") || !/^\d{1,3}$/.test(length) || Number(length) > bits(host)) return null;
  return `${hostOf(text)}/${Number(length)}`;
}

/** The host of an address, in the one spelling that NetBox tells. */
export function hostOf(text: string): string {
  const [host = ""] = text.split("/");
  return isIP(host) === 6 ? new URL(`http://[${host}]/`).hostname.slice(1, -1) : host;
}

/** The first address of the network that an address lies in, and the last. */
export function boundsOf(text: string): { readonly first: string; readonly last: string } {
  const [host = "", length = ""] = text.split("/");
  const size = 1n << BigInt(bits(host) - Number(length));
  const number = numberOf(host);
  const first = number - (number % size);
  return { first: textOf(first, bits(host)), last: textOf(first + size - 1n, bits(host)) };
}

function bits(host: string): number {
  return host.includes(":") ? 128 : 32;
}

function numberOf(host: string): bigint {
  const [head = "", tail = ""] = host.split("::");
  const groups = (half: string) => (half === "" ? [] : half.split(/[:.]/));
  const [step, base] = host.includes(":") ? [65_536n, "0x"] : [256n, ""];
  const missing = host.includes("::") ? 8 - groups(head).length - groups(tail).length : 0;
  const all = [...groups(head), ...Array<string>(missing).fill("0"), ...groups(tail)];
  return all.reduce((sum, group) => sum * step + BigInt(`${base}${group}`), 0n);
}

function textOf(number: bigint, size: number): string {
  if (size === 32) return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join(".");
  const groups = [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((number >> shift) & 65_535n).toString(16));
  return hostOf(groups.join(":"));
}
