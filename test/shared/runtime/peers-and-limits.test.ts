import type { Context } from "hono";
import { describe, expect, it } from "vitest";
import { InFlight, InFlightPerPeer, RateLimit } from "../../../shared/runtime/limits.ts";
import { peerOf } from "../../../shared/runtime/peer.ts";

const from = (remoteAddress: string | undefined, forwarded?: string) =>
  ({
    env: { incoming: { socket: { remoteAddress } } },
    req: { header: (name: string) => (name === "x-forwarded-for" ? forwarded : undefined) },
  }) as unknown as Context;

describe("peerOf", () => {
  it.each([
    ["10.0.0.1", "10.0.0.1"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ])("%s is %s", (address, peer) => {
    expect(peerOf(from(address), [])).toBe(peer);
  });

  it("two addresses of one /64 are one peer, of two they are two", () => {
    expect(peerOf(from("2001:db8:1:2::1"), [])).toBe(peerOf(from("2001:db8:1:2:ffff::2"), []));
    expect(peerOf(from("2001:db8:1:2::1"), [])).not.toBe(peerOf(from("2001:db8:1:3::1"), []));
  });

  it("X-Forwarded-For counts from a trusted proxy alone, and its last entry only", () => {
    expect(peerOf(from("10.0.0.1", "10.9.9.9"), [])).toBe("10.0.0.1");
    expect(peerOf(from("10.0.0.1", "1.1.1.1, 10.9.9.9"), ["10.0.0.1"])).toBe("10.9.9.9");
    expect(peerOf(from("::ffff:10.0.0.1", "10.9.9.9"), ["10.0.0.1"])).toBe("10.9.9.9");
    expect(peerOf(from("10.0.0.1", "<script>"), ["10.0.0.1"])).toBe("10.0.0.1");
    expect(peerOf(from("10.0.0.1"), ["10.0.0.1"])).toBe("10.0.0.1");
    expect(peerOf(from(undefined), [])).toBe("unknown");
  });
});

describe("limits", () => {
  it("so many a minute for each key, anew in the next", () => {
    const limit = new RateLimit(2);
    const at = (key: string, ms: number) => limit.allow(key, 1_000_000 + ms);
    expect([at("a", 0), at("a", 1), at("a", 2), at("b", 3)]).toEqual([true, true, false, true]);
    expect([at("a", 59_999), at("a", 60_000), at("a", 60_001), at("a", 60_002)]).toEqual([false, true, true, false]);
  });

  it("a clock that went back begins a new window: what was counted in a later time bars nobody", () => {
    const limit = new RateLimit(2);
    for (let n = 0; n < 3; n++) limit.allow("a", Date.UTC(2030, 0, 1));
    const now = Date.UTC(2026, 10, 30);
    expect([0, 1, 2, 60_000].map((ms) => limit.allow("a", now + ms))).toEqual([true, true, false, true]);
  });

  it("so many at once of each peer, with room again after a failure", async () => {
    const limit = new InFlightPerPeer(1);
    let end: () => void = () => undefined;
    const first = limit.run("a", () => new Promise<string>((resolve) => (end = () => resolve("done"))));
    expect(await limit.run("a", async () => "more")).toBeUndefined();
    expect(await limit.run("b", async () => "another's")).toBe("another's");
    end();
    expect(await first).toBe("done");
    await expect(limit.run("a", () => Promise.reject(new Error("x")))).rejects.toThrow("x");
    expect(await limit.run("a", async () => "room")).toBe("room");
  });

  it("so many at once, with room again after a failure", async () => {
    const limit = new InFlight(2);
    const open: (() => void)[] = [];
    const slow = () => limit.run(() => new Promise<string>((resolve) => open.push(() => resolve("done"))));
    const running = [slow(), slow()];
    expect(await slow()).toBeNull();
    for (const end of open.splice(0)) end();
    expect(await Promise.all(running)).toEqual(["done", "done"]);
    for (let n = 0; n < 3; n++) await expect(limit.run(() => Promise.reject(new Error("x")))).rejects.toThrow("x");
    expect(await limit.run(async () => "room")).toBe("room");
  });
});
