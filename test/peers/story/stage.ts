import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { tellFleetdLine } from "../../../infra/lab/story/events.ts";
import { Stage } from "../../../infra/lab/story/stage.ts";
import { Teller } from "../../../infra/lab/story/teller.ts";
import { startLab } from "../../../infra/lab/world/lab.ts";
import { type AskingOwner, askAgain } from "./ask-again.ts";
import { realPeers } from "./peers.ts";

/** The story's stage among real peers, and what was told on it. */
export interface RealStage {
  readonly stage: Stage;
  readonly again: AskingOwner;
  /** The last lines, for a failure's message. */
  tail(): string;
  stop(): Promise<void>;
}

const TAIL_LINES = 60;

/** Starts all peers, fleetd and the machines; a pass every two seconds, since one costs a real NetBox a second of CPU. */
export async function realStage(more: { readonly attestTries?: number } = {}): Promise<RealStage> {
  const state = mkdtempSync(join(process.env.FLEETD_PEERS_TMP ?? tmpdir(), "fleetd-story-"));
  const teller = new Teller(new Writable({ write: (_chunk, _encoding, done) => done() }), true);
  const lab = await startLab({
    state,
    classes: "infra/lab/defaults/classes.json",
    profiles: null,
    passEveryMs: 2_000,
    onFleetdLine: (line) => tellFleetdLine(teller, line),
    peers: realPeers(),
    ...more,
  });
  const stage = new Stage(lab, teller);
  const stops = [stage.owner.followJournal(teller), stage.machines.follow(teller)];
  const again = askAgain(stage);
  return {
    stage,
    again,
    tail: () =>
      teller.lines
        .slice(-TAIL_LINES)
        .map((line) => `${line.at} ${line.device} ${line.kind} ${line.text}`)
        .join("\n"),
    async stop() {
      await again.end();
      for (const stop of stops) await stop();
      await lab.stop();
      if (process.env.FLEETD_PEERS_TMP === undefined) rmSync(state, { recursive: true, force: true });
    },
  };
}
