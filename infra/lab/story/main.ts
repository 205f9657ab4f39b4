import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { argumentsOf, leave, stateFault } from "../arguments.ts";
import { LAB_DURATIONS } from "../world/fleetd-env.ts";
import { type Lab, startLab } from "../world/lab.ts";
import { install } from "./chapters/install.ts";
import { refusals } from "./chapters/refusals.ts";
import { requests } from "./chapters/requests.ts";
import { retire } from "./chapters/retire.ts";
import { tellFleetdLine } from "./events.ts";
import { Stage, StoryEnds } from "./stage.ts";
import { Teller } from "./teller.ts";

const PASS_EVERY_MS = 1_000;

const USAGE = "usage: npm start -- [--once] [--json] [--state DIR]";

const args = argumentsOf(USAGE, {
  once: { type: "boolean" },
  json: { type: "boolean" },
  state: { type: "string" },
  // For tests: another entry than functions/serve.ts.
  serve: { type: "string" },
});
const fault = args.state === undefined ? null : stateFault(args.state);
if (fault !== null) leave(USAGE, `--state ${args.state} ${fault}`);
const state = args.state ?? mkdtempSync(join(tmpdir(), "fleetd-lab-"));
const teller = new Teller(process.stdout, args.json === true);

function sayWhatIsUsed(lab: Lab): void {
  const { redis, swtpm } = lab.found;
  teller.note("fleetd and its lab are up. What is real here, and what stands in:");
  teller.note(
    `  TPM    ${swtpm ? "swtpm, with the real tink-attest script" : "a software TPM (swtpm and tpm2-tools are not installed)"}`,
  );
  teller.note(
    `  store  ${redis === null ? "in fleetd's memory (no redis-server or valkey-server is installed)" : redis}`,
  );
  teller.note("  NetBox, both Kubernetes APIs, Tink, Rufio, BMCs, kubelets: the lab's own, reached over HTTP");
  const durations = Object.entries(LAB_DURATIONS).map(
    ([k, v]) => `${k.slice("FLEET_".length, -"_MS".length).toLowerCase()} ${v / 1000} s`,
  );
  teller.note(`  shorter than in production: ${durations.join(", ")}; a pass each ${PASS_EVERY_MS / 1000} s`);
  teller.note(
    `  status page ${lab.urls.metrics}/   device ${lab.urls.device}   admin ${lab.urls.admin}   state ${state}`,
  );
}

async function tellStory(stage: Stage): Promise<void> {
  try {
    for (const chapter of [install, refusals, requests, retire]) {
      await chapter(stage);
      if (stage.failed.length > 0) return;
    }
  } catch (error) {
    if (!(error instanceof StoryEnds)) throw error;
  }
}

// From the first moment on: a signal ends the lab's processes too, whenever it comes.
const stopped = new Promise<"stopped">((resolve) => {
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => resolve("stopped"));
});

/** Starts the lab, tells the story, stays up unless told otherwise; returns what went wrong. */
async function run(): Promise<readonly string[]> {
  const started = performance.now();
  const lab = await startLab({
    state,
    classes: fileURLToPath(new URL("../defaults/classes.json", import.meta.url)),
    profiles: null,
    passEveryMs: PASS_EVERY_MS,
    onFleetdLine: (line) => tellFleetdLine(teller, line),
    ...(args.serve === undefined ? {} : { serve: [process.execPath, args.serve] }),
  });
  try {
    sayWhatIsUsed(lab);
    const stage = new Stage(lab, teller);
    const stops = [stage.owner.followJournal(teller), stage.machines.follow(teller)];
    try {
      if ((await Promise.race([tellStory(stage), stopped])) === "stopped") return ["it was stopped"];
    } finally {
      for (const stop of stops) await stop();
    }
    teller.result(stage.failed.length === 0, stage.failed);
    if (args.once !== true) {
      const seconds = Math.round((performance.now() - started) / 1000);
      teller.note(`It took ${seconds} s. The status page stays up at ${lab.urls.metrics}/ (Ctrl-C ends the lab).`);
      await stopped;
    }
    return stage.failed;
  } finally {
    await lab.stop();
    if (args.state === undefined) rmSync(state, { recursive: true, force: true });
  }
}

try {
  const failed = await run();
  process.exit(failed.length === 0 ? 0 : 1);
} catch (error) {
  teller.result(false, [(error as Error).message]);
  process.exit(1);
}
