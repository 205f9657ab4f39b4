import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs?: number;
  /** The account to run as; only root may ask for another one. */
  readonly user?: string;
}

export interface PeerProcess {
  readonly name: string;
  readonly pid: number;
  readonly child: ChildProcess;
  running(): boolean;
  /** SIGTERM (or what is asked), then SIGKILL after the grace; resolves when it is gone. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
}

const TAIL_CHARS = 1500;
const TICK_MS = 100;

/** Leaders of the groups of what `run` runs. */
const groups = new Set<number>();

/** Ends at once what `run` runs, with all that it has started. */
export function killRunning(): void {
  for (const group of groups) {
    try {
      process.kill(-group, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

/** Runs a program to its end and gives its standard output. @throws Error with the end of what it wrote, where it fails */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const [program, words] = wrapped(command, args, options.user);
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    // A group of its own: a compiler's children are to end with it.
    detached: true,
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs, killSignal: "SIGKILL" as const }),
  });
  let out = "";
  let all = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    all = `${all}${text}`.slice(-TAIL_CHARS);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    all = `${all}${text}`.slice(-TAIL_CHARS);
  });
  // A program may end without reading: its exit says enough.
  child.stdin.on("error", () => undefined).end(options.input ?? "");
  const group = child.pid;
  if (group !== undefined) groups.add(group);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`${command}: ${error.message}`)));
    child.once("close", (...ended) => resolve(ended));
  }).finally(() => group !== undefined && groups.delete(group));
  if (code === 0) return out;
  throw new Error(`${command} ${args.slice(0, 3).join(" ")}: ended with ${code ?? signal}\n${all}`);
}

/** Starts a server that ends with us, also when we are killed (parent-death signal); its output goes to `logFile`. */
export function startProcess(
  name: string,
  command: string,
  args: readonly string[],
  logFile: string,
  options: Omit<RunOptions, "input" | "timeoutMs"> = {},
): PeerProcess {
  const [program, words] = wrapped(command, args, options.user);
  const log = openSync(logFile, "a");
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const running = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    name,
    pid: child.pid ?? -1,
    child,
    running,
    async stop(signal = "SIGTERM", graceMs = 10_000) {
      if (!running()) return;
      child.kill(signal);
      // One that is stopped (SIGSTOP) takes no other signal before it goes on.
      child.kill("SIGCONT");
      const late = new AbortController();
      await Promise.race([gone, sleep(graceMs, undefined, { signal: late.signal }).catch(() => undefined)]);
      late.abort();
      if (running()) child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Waits until `ready` says true. @throws Error with the end of the log, where the process ends or time is over */
export async function untilReady(
  peer: PeerProcess,
  logFile: string,
  ready: () => Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const untilMs = Date.now() + timeoutMs;
  for (;;) {
    if (await ready().catch(() => false)) return;
    const why = !peer.running() ? "it ended" : Date.now() > untilMs ? `not ready in ${timeoutMs / 1000} s` : null;
    if (why !== null) throw new Error(`${peer.name}: ${why}\n${readFileSync(logFile, "utf8").slice(-TAIL_CHARS)}`);
    await sleep(TICK_MS);
  }
}

/** Stops all, last started first, each whatever the others do. */
export async function stopAll(peers: readonly PeerProcess[]): Promise<void> {
  for (const peer of [...peers].reverse()) await peer.stop();
}

/** `setpriv` (util-linux) sets the parent-death signal after it changed the account: the other way round clears it. */
function wrapped(command: string, args: readonly string[], user: string | undefined): [string, string[]] {
  const as = user === undefined ? [] : ["--reuid", user, "--regid", user, "--init-groups"];
  return ["setpriv", [...as, "--pdeathsig", "KILL", "--", command, ...args]];
}
