import { type ChildProcess, spawn } from "node:child_process";
import { unavailable } from "./issuer.ts";

export interface Run {
  readonly argv: readonly string[];
  readonly stdin: Uint8Array;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** What must not be repeated from stderr. */
  readonly secret: string | null;
}

export interface RunResult {
  readonly stdout: Buffer;
  /** The last two lines of stderr that say something, printable and short. */
  readonly lastWords: string;
  readonly code: number | null;
  readonly signal: string | null;
}

const MAX_STDERR_BYTES = 4096;
const MAX_WORDS = 200;

/** fleetd's environment without its own settings: other programs get PATH and the like, and no address or token. */
export function environmentForOthers(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("FLEET_")));
}

/**
 * Runs one command without a shell, in a process group of its own that is killed whole.
 * @throws PortError unavailable when it cannot be started, takes too long or prints too much
 */
export function runCommand(run: Run): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const [file = "", ...args] = run.argv;
    const child = spawn(file, args, { env: run.env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let size = 0;
    let heard = 0;
    const give = (detail: string) => {
      clearTimeout(timer);
      killGroup(child);
      child.stdout.destroy();
      child.stderr.destroy();
      reject(unavailable(detail));
    };
    const timer = setTimeout(() => give(`the command did not end within ${run.timeoutMs} ms`), run.timeoutMs);
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > run.maxOutputBytes) give(`the command printed more than ${run.maxOutputBytes} bytes`);
      else stdout.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      // The rest is read and dropped: a full pipe would stop the command.
      if (heard < MAX_STDERR_BYTES) stderr.push(chunk.subarray(0, MAX_STDERR_BYTES - heard));
      heard += chunk.length;
    });
    child.on("error", (error) => give(`the command cannot be started: ${"code" in error ? error.code : error.name}`));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ stdout: Buffer.concat(stdout), lastWords: lastWords(Buffer.concat(stderr), run.secret), code, signal });
    });
    // A command that does not read its input ends the pipe early, and its output counts all the same.
    child.stdin.on("error", () => undefined);
    child.stdin.end(run.stdin);
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

function lastWords(stderr: Buffer, secret: string | null): string {
  const text = stderr.toString("utf8");
  const lines = (secret === null ? text : text.replaceAll(secret, "***")).split(/[\r\n]+/);
  // Where it was cut, the last line may hold a part of the secret.
  if (stderr.length >= MAX_STDERR_BYTES) lines.pop();
  const last = lines.filter((one) => one.trim() !== "").slice(-2);
  return last
    .join(" / ")
    .replace(/[^\x20-\x7e]/g, "?")
    .slice(0, MAX_WORDS);
}
