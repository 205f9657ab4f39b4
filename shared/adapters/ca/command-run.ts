import { type ChildProcess, spawn } from "node:child_process";
import { rejected, unavailable } from "./issuer.ts";

export interface Run {
  readonly argv: readonly string[];
  readonly stdin: Uint8Array;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export interface RunResult {
  readonly stdout: Buffer;
  /** What of stderr may be repeated: its words of KNOWN_WORDS. */
  readonly known: readonly string[];
  /** How much it wrote to stderr. */
  readonly stderrBytes: number;
  readonly code: number | null;
  readonly signal: string | null;
}

const MAX_STDERR_BYTES = 4096;
/** What a child that outlives the command may go on writing to the command's output. */
const GRACE_MS = 200;
/** A program that is not there, or may not be run, is there at no later try. */
const NOT_TO_BE_STARTED = ["ENOENT", "EACCES", "ENOTDIR", "ENOEXEC", "EPERM", "ELOOP"];

/**
 * All that is ever repeated of a command's words: whatever else it prints may hold the PIN, in any form.
 * @see PKCS #11 v2.40 section 5.1
 */
const KNOWN_WORDS = [
  ...["CKR_PIN_INCORRECT", "CKR_PIN_INVALID", "CKR_PIN_LEN_RANGE", "CKR_PIN_EXPIRED", "CKR_PIN_LOCKED"],
  ...["CKR_USER_PIN_NOT_INITIALIZED", "CKR_TOKEN_NOT_PRESENT", "CKR_TOKEN_NOT_RECOGNIZED", "CKR_DEVICE_REMOVED"],
  ...[
    "CKR_DEVICE_ERROR",
    "CKR_GENERAL_ERROR",
    "CKR_SLOT_ID_INVALID",
    "CKR_KEY_HANDLE_INVALID",
    "CKR_MECHANISM_INVALID",
  ],
  ...["CKR_KEY_TYPE_INCONSISTENT", "CKR_KEY_FUNCTION_NOT_PERMITTED", "CKR_USER_NOT_LOGGED_IN"],
  ...["AccessDenied", "NotFound", "Throttling", "ExpiredToken", "PERMISSION_DENIED", "UNAUTHENTICATED", "NOT_FOUND"],
];

/** fleetd's environment without its own settings: other programs get PATH and the like, and no address or token. */
export function environmentForOthers(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("FLEET_")));
}

/**
 * Runs one command without a shell, in a process group of its own, which is killed whole where it takes too long, prints
 * too much or leaves somebody behind that holds its output. A process that left the group (setsid) is not.
 * @throws PortError unavailable in the first two cases; rejected where the program is none that can be started
 */
export function runCommand(run: Run): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const [file = "", ...args] = run.argv;
    const child = spawn(file, args, { env: run.env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let size = 0;
    let heard = 0;
    const letGo = () => {
      killGroup(child);
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const give = (detail: string, make = unavailable) => {
      clearTimeout(timer);
      letGo();
      reject(make(detail));
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
    child.on("error", (error) => {
      const code = "code" in error ? String(error.code) : error.name;
      const make = NOT_TO_BE_STARTED.includes(code) ? rejected : unavailable;
      give(`the command ${file} cannot be started: ${code}`, make);
    });
    child.on("exit", () => {
      clearTimeout(timer);
      const grace = setTimeout(letGo, GRACE_MS);
      child.once("close", () => clearTimeout(grace));
    });
    child.on("close", (code, signal) => {
      const known = knownWords(Buffer.concat(stderr));
      resolve({ stdout: Buffer.concat(stdout), known, stderrBytes: heard, code, signal });
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

function knownWords(stderr: Buffer): string[] {
  const text = stderr.toString("latin1");
  return KNOWN_WORDS.filter((word) => text.includes(word));
}
