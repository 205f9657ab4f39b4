import { setTimeout as sleep } from "node:timers/promises";
import { at } from "../../../infra/lab/kubernetes/json.ts";
import type { Stage } from "../../../infra/lab/story/stage.ts";

/** The owner who asks again where Rufio failed a netboot Job by itself ("already exists"), so that nothing had begun. */
export interface AskingOwner {
  /** Kinds of the runs that were lost so, a retirement's among them, which fleetd tries again by itself. */
  lost(): string[];
  end(): Promise<void>;
}

const LOST = /^(provision|attest|wipe) failed \(FAILED\): job failed; no disk action had begun/;
const LOST_RETIREMENT = /^retirement attempt \d+ failed \(.*job failed/;
const POLL_MS = 500;

/** Follows the journal until it is ended. @see test/peers/README.md, Tinkerbell */
export function askAgain(s: Stage): AskingOwner {
  const stop = new AbortController();
  const told = () => s.teller.lines.filter(({ source }) => source === "journal");
  const lost = () =>
    told().flatMap(({ device, text }) => {
      const kind = LOST_RETIREMENT.test(text) ? "retire" : LOST.exec(text)?.[1];
      return kind === undefined ? [] : [{ device, kind }];
    });
  const ask = async (device: string, kind: string) => {
    // What is asked before fleetd has taken the first word back would be no change.
    while (!stop.signal.aborted && !(await settled(s, device).catch(() => false))) await sleep(POLL_MS);
    if (stop.signal.aborted) return;
    await s.owner.request(device, kind);
    s.act(device, "request", `the owner asks again for ${kind}: Rufio lost its Job`);
  };
  const work = (async () => {
    let answered = 0;
    while (!stop.signal.aborted) {
      const next = lost().filter(({ kind }) => kind !== "retire")[answered];
      if (next === undefined) await sleep(POLL_MS);
      else {
        await ask(next.device, next.kind);
        answered += 1;
      }
    }
  })();
  return {
    lost: () => lost().map(({ kind }) => kind),
    async end() {
      stop.abort();
      await work;
    },
  };
}

async function settled(s: Stage, device: string): Promise<boolean> {
  const { run } = await s.device(device);
  return run?.phase === "ended" && at(await s.owner.device(device), "custom_fields", "desired_action") === null;
}
