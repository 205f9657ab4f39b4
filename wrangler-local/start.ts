import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildWorker } from "./build.ts";

export interface WorkerdOptions {
  /** Folder for bundle and configuration. */
  readonly folder: string;
  readonly port: number;
  /** host:port of the Kubernetes API, and its CA in PEM. */
  readonly kubernetes: { readonly address: string; readonly caPem: string };
  /** The worker's text bindings by name. */
  readonly bindings: Readonly<Record<string, string>>;
}

const READY_TRIES = 100;

/** Builds the worker and serves it on bare workerd; resolves once it answers. */
export async function startWorkerd(options: WorkerdOptions): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { folder, port, kubernetes, bindings } = options;
  await buildWorker(join(folder, "worker.mjs"));
  copyFileSync(new URL("./workerd.capnp", import.meta.url), join(folder, "workerd.capnp"));
  writeFileSync(join(folder, "kubernetes-ca.pem"), kubernetes.caPem);
  const program = fileURLToPath(new URL("../node_modules/workerd/bin/workerd", import.meta.url));
  const child = spawn(
    program,
    [
      "serve",
      "workerd.capnp",
      `--socket-addr=http=127.0.0.1:${port}`,
      `--external-addr=kubernetes=${kubernetes.address}`,
    ],
    { cwd: folder, env: { PATH: process.env.PATH, ...bindings }, stdio: ["ignore", "inherit", "inherit"] },
  );
  const url = `http://127.0.0.1:${port}`;
  for (let n = 0; n < READY_TRIES; n++) {
    if (child.exitCode !== null) throw new Error(`workerd ended with ${child.exitCode}`);
    if (
      await fetch(`${url}/`).then(
        () => true,
        () => false,
      )
    )
      return { url, stop: () => stop(child) };
    await sleep(100);
  }
  await stop(child);
  throw new Error("workerd does not answer");
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}
