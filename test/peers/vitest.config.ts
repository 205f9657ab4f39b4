import { defineConfig } from "vitest/config";

// The contracts against real systems that someone started: not part of `npm test`.
export default defineConfig({
  test: { include: ["test/peers/**/*.peer.ts"], testTimeout: 120_000, hookTimeout: 300_000, maxWorkers: 1 },
});
