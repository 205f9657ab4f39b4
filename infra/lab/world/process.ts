import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";

export interface LabProcess {
  readonly name: string;
  readonly pid: number;
  /** What followed `ready ` on its first line, or "". */
  readonly url: string;
  readonly child: ChildProcess;
  stop(): Promise<void>;
  /** SIGKILL: it gets no chance to end anything. */
  kill(): Promise<void>;
}

export interface ProcessOptions {
  readonly log: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly onLine?: (line: string) => void;
}

const READY_MS = 60_000;
const STOP_MS = 5_000;

/** Ends a child by SIGTERM, by SIGKILL where it does not listen. */
async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const hard = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await gone;
  clearTimeout(hard);
}

/**
 * Starts a peer as a process of its own and waits for its `ready` line; its output goes to a log file, and each line of
 * its stderr to `onLine`.
 */
export async function startProcess(
  name: string,
  command: readonly string[],
  options: ProcessOptions,
): Promise<LabProcess> {
  const [file = "", ...args] = command;
  const child = spawn(file, args, { env: options.env ?? process.env, stdio: ["ignore", "pipe", "pipe"] });
  const log = createWriteStream(options.log, { flags: "a", mode: 0o600 });
  const last: string[] = [];
  const keep = (line: string) => {
    log.write(`${line}\n`);
    last.push(line);
    if (last.length > 5) last.shift();
  };
  createInterface({ input: child.stderr }).on("line", (line) => {
    keep(line);
    options.onLine?.(line);
  });
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${name} is not ready after ${READY_MS / 1000} s`)), READY_MS);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}: ${last.join(" | ")}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      keep(line);
      if (!line.startsWith("ready")) return;
      clearTimeout(late);
      resolve(line.slice("ready".length).trim());
    });
  }).catch(async (error: unknown) => {
    await stopChild(child);
    throw error;
  });
  let stopping = false;
  child.once("exit", (code, signal) => {
    if (!stopping)
      process.stderr.write(`lab: ${name} ended by itself (${signal ?? code}); its log is ${options.log}\n`);
  });
  const stop = () => {
    stopping = true;
    return stopChild(child);
  };
  const kill = async () => {
    stopping = true;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    if (child.kill("SIGKILL")) await gone;
  };
  return { name, pid: child.pid ?? 0, url, child, stop, kill };
}
