import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { install } from "../../infra/lab/story/chapters/install.ts";
import { refusals } from "../../infra/lab/story/chapters/refusals.ts";
import { requests } from "../../infra/lab/story/chapters/requests.ts";
import { retire } from "../../infra/lab/story/chapters/retire.ts";
import { tellFleetdLine } from "../../infra/lab/story/events.ts";
import { Stage } from "../../infra/lab/story/stage.ts";
import { Teller } from "../../infra/lab/story/teller.ts";
import { startLab } from "../../infra/lab/world/lab.ts";
import { commandLines, outputs, redisDump, Secrets, type Seen } from "./secret-hunt.ts";

const state = mkdtempSync(join(tmpdir(), "fleetd-secrets-"));
afterAll(() => rmSync(state, { recursive: true, force: true }));

describe("the whole story, on the real tools where they are installed", () => {
  it("goes as it should, and no secret is seen in any output (spec/80, invariant 12)", async () => {
    const told: string[] = [];
    const out = new Writable({
      write(chunk: Buffer, _encoding, done) {
        told.push(chunk.toString());
        done();
      },
    });
    const teller = new Teller(out, true);
    const lab = await startLab({
      state,
      classes: fileURLToPath(new URL("../../infra/lab/defaults/classes.json", import.meta.url)),
      profiles: null,
      passEveryMs: 1_000,
      onFleetdLine: (line) => tellFleetdLine(teller, line),
    });
    const seen: Seen = new Map();
    const secrets = new Secrets(lab);
    let dumped = 0;
    try {
      const stage = new Stage(lab, teller);
      const stops = [stage.owner.followJournal(teller), stage.machines.follow(teller)];
      let ended = false;
      const watching = (async () => {
        while (!ended) {
          secrets.learn([...stage.owner.ids.keys()].filter((n) => n !== "w3"));
          commandLines(seen);
          dumped = Math.max(dumped, await redisDump(lab.redisUrl, seen));
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      })();
      for (const chapter of [install, refusals, requests, retire]) await chapter(stage);
      ended = true;
      await watching;
      for (const stop of stops) await stop();
      expect(stage.failed).toEqual([]);
      await outputs(lab, seen, await stage.owner.call("GET", "/api/extras/journal-entries/?limit=1000"));
      seen.set("what the story told", told.join(""));
    } finally {
      await lab.stop();
    }
    for (const kind of ["install code", "bootstrap token", "talos secret", "session", "CA key"])
      expect(
        [...secrets.values.keys()].some((k) => k.startsWith(kind)),
        kind,
      ).toBe(true);
    if (lab.redisUrl !== null) expect(dumped).toBeGreaterThan(3);
    const found = [...secrets.values].flatMap(([name, value]) =>
      [...seen].filter(([, text]) => text.includes(value)).map(([where]) => `${name} in ${where}`),
    );
    expect(found).toEqual([]);
  }, 240_000);
});
