import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PortError } from "../../ports/error.ts";
import type { SignerPort } from "../../ports/signer.ts";
import { checkedSigner } from "./checked.ts";
import { environmentForOthers, type RunResult, runCommand } from "./command-run.ts";
import { HASHES, type IssuerFiles, loadIssuer, rejected, unavailable } from "./issuer.ts";
import { type QueueOptions, queued } from "./queue.ts";

export interface CommandOptions extends IssuerFiles {
  /**
   * Program and arguments. `{in}` is a private file with the input and `{out}` one for the signature; without the first
   * the input is on stdin, without the second the signature is read from stdout.
   */
  readonly command: readonly string[];
  /** What is signed: the bytes themselves, or their digest by the issuer's hash. */
  readonly input: "tbs" | "digest";
  /** Its first line is the command's FLEETD_PIN, in its environment only. */
  readonly pinFile?: string | undefined;
  readonly timeoutMs: number;
  readonly queue: QueueOptions;
}

/** No signature is longer, also as base64. */
const MAX_OUTPUT_BYTES = 4096;
/** What a shell ends with where it may not run, or does not find, what it was told to. @see POSIX.1-2017 XCU 2.8.2 */
const SHELL_FOUND_NO_PROGRAM = [126, 127];
/** Words of a token that no other try mends; another try of a PIN may lock it. */
const PERSON_MUST_ACT = /^CKR_(PIN_|USER_PIN_|KEY_|MECHANISM_)/;

/**
 * An issuer whose key is behind a program, such as pkcs11-tool or the client of a cloud's key service.
 * @throws PortError rejected where chain or bundle cannot be used
 * @see spec/20-verification.md "Certificates issued"
 */
export async function createCommandSigner(options: CommandOptions): Promise<SignerPort> {
  const issuer = await loadIssuer(options);
  const hash = HASHES[issuer.algorithm];
  let refusedPin: PortError | null = null;
  const sign = async (bytes: Uint8Array) => {
    // A token locks itself after a few wrong PINs: one refusal counts until a restart.
    if (refusedPin !== null) throw refusedPin;
    const input = options.input === "tbs" ? bytes : createHash(hash).update(bytes).digest();
    return signByCommand(options, input, (fault) => {
      refusedPin = fault;
    });
  };
  return queued(checkedSigner(issuer, sign), options.queue);
}

async function signByCommand(
  options: CommandOptions,
  input: Uint8Array,
  onRefusedPin: (fault: PortError) => void,
): Promise<Uint8Array> {
  const pin = options.pinFile === undefined ? null : await readPin(options.pinFile);
  const asks = (name: string) => options.command.some((argument) => argument.includes(name));
  const folder = asks("{in}") || asks("{out}") ? await mkdtemp(join(tmpdir(), "fleetd-sign-")) : null;
  try {
    const paths = { in: join(folder ?? "", "in"), out: join(folder ?? "", "out") };
    if (asks("{in}")) await writeFile(paths.in, input, { mode: 0o600 });
    const result = await runCommand({
      argv: options.command.map((one) => one.replaceAll("{in}", paths.in).replaceAll("{out}", paths.out)),
      stdin: asks("{in}") ? new Uint8Array(0) : input,
      env: { ...environmentForOthers(), ...(pin === null ? {} : { FLEETD_PIN: pin }) },
      timeoutMs: options.timeoutMs,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    });
    if (result.code !== 0) {
      const fault = faultOf(result);
      if (result.known.some((word) => word.includes("PIN_"))) onRefusedPin(fault);
      throw fault;
    }
    return asks("{out}") ? await readOutput(paths.out) : new Uint8Array(result.stdout);
  } finally {
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  }
}

/** How it ended, and what of its words may be told; run by hand, it says the rest. */
function faultOf({ code, signal, known, stderrBytes }: RunResult): PortError {
  const words = known.length > 0 ? known.join(", ") : `${stderrBytes} bytes on stderr, not repeated here`;
  const mend = known.some((word) => PERSON_MUST_ACT.test(word)) || SHELL_FOUND_NO_PROGRAM.includes(code ?? 0);
  return (mend ? rejected : unavailable)(`the command ended by ${signal ?? code}: ${words}`);
}

async function readPin(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch {
    throw rejected(`${path} cannot be read`);
  }
  const pin = text.split(/\r?\n/)[0] ?? "";
  if (pin === "") throw rejected(`${path} holds no PIN`);
  return pin;
}

async function readOutput(path: string): Promise<Uint8Array> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    // Neither a pipe's other end is waited for, nor a link followed out of the folder.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    throw unavailable("the command wrote no signature to {out}");
  }
  try {
    if (!(await file.stat()).isFile()) throw unavailable("what the command made of {out} is no file");
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_OUTPUT_BYTES + 1), 0, MAX_OUTPUT_BYTES + 1, 0);
    if (bytesRead > MAX_OUTPUT_BYTES) throw unavailable(`the command wrote more than ${MAX_OUTPUT_BYTES} bytes`);
    return new Uint8Array(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
