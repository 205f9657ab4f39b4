import { expect, it } from "vitest";
import { systemClock } from "../../../../shared/adapters/system/clock.ts";
import { systemEntropy } from "../../../../shared/adapters/system/entropy.ts";

it("the clock counts milliseconds since 1970 and goes on", async () => {
  const before = systemClock.nowMs();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const passed = systemClock.nowMs() - before;
  expect(passed).toBeGreaterThanOrEqual(15);
  expect(new Date(before).getUTCFullYear()).toBeGreaterThanOrEqual(2026);
});

it("random bytes are as many as asked for, plain, and never the same", () => {
  expect(systemEntropy.bytes(0)).toHaveLength(0);
  const texts = Array.from({ length: 100 }, () => systemEntropy.bytes(16)).map((bytes) => {
    expect(bytes.constructor).toBe(Uint8Array);
    return bytes.join();
  });
  expect(new Set(texts).size).toBe(100);
  const seen = new Set(systemEntropy.bytes(20_000));
  expect(seen.size).toBe(256);
});
