import { describe, expect, it } from "vitest";
import { runStory } from "./cli.ts";

const KEYS = ["at", "code", "device", "kind", "source", "text"];

describe("npm start -s -- --once --json", () => {
  it("tells the whole story in JSON lines and exits 0", async () => {
    const { code, lines, result } = await runStory();
    expect(result).toEqual({ source: "result", ok: true, failed: [] });
    expect(code).toBe(0);
    for (const line of lines.slice(0, -1)) {
      expect(Object.keys(line).sort()).toEqual(KEYS);
      expect(["journal", "condition", "event", "lab"]).toContain(line.source);
      expect(new Date(String(line.at)).getTime()).toBeGreaterThan(0);
    }
    for (const source of ["journal", "condition", "event", "lab"])
      expect(
        lines.some((l) => l.source === source),
        source,
      ).toBe(true);
  }, 180_000);
});
