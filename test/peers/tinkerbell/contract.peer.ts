import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REAL_ANSWER_MS } from "../../../infra/lab/tink/bmc.ts";
import { rufioContract } from "../../contracts/rufio.ts";
import { tinkWorld } from "../../contracts/tink-world.ts";
import { tinkerbellContract } from "../../contracts/tinkerbell.ts";
import { startCluster } from "../kubernetes/world.ts";
import { startTinkerbell } from "./start.ts";

const TASK_TIMEOUT_MS = 600_000;

async function realTinkWorld() {
  const cluster = await startCluster("tinkerbell");
  const folder = mkdtempSync(join(tmpdir(), "fleetd-peer-tink-"));
  return tinkWorld(
    async () => {
      const world = await cluster.world();
      const close = async () => {
        await world.close();
        await cluster.stop();
        rmSync(folder, { recursive: true, force: true });
      };
      return { ...world, close };
    },
    async ({ adminKubeconfigFile: kubeconfigFile, namespace }) => {
      const tink = await startTinkerbell(folder, { kubeconfigFile, namespace });
      return { url: tink.url, taskTimeoutMs: TASK_TIMEOUT_MS, close: tink.stop };
    },
    REAL_ANSWER_MS,
  );
}

tinkerbellContract("a real Tinkerbell", realTinkWorld);
rufioContract("a real Rufio", realTinkWorld);
