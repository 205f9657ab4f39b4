import type { Context } from "hono";

/** IPv6 peers count by their /64: one machine owns a whole one. */
function bucket(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const full = [...left, ...Array<string>(Math.max(8 - left.length - right.length, 0)).fill("0"), ...right];
  return `${full.slice(0, 4).join(":")}::/64`;
}

/** The caller's address; X-Forwarded-For counts only from the proxies that settings name (spec/00, "Listeners"). */
export function peerOf(c: Context, trustedProxies: readonly string[]): string {
  const env = c.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined;
  const direct = (env?.incoming?.socket?.remoteAddress ?? "unknown").replace(/^::ffff:(?=\d+\.)/, "");
  if (!trustedProxies.includes(direct)) return bucket(direct);
  const forwarded = c.req.header("x-forwarded-for")?.split(",").at(-1)?.trim();
  return bucket(forwarded !== undefined && /^[0-9a-fA-F:.]{2,45}$/.test(forwarded) ? forwarded : direct);
}
