import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { PortError } from "../../ports/error.ts";
import type { SignerPort } from "../../ports/signer.ts";
import { checkedSigner, type SignBytes } from "./checked.ts";
import { environmentForOthers } from "./command-run.ts";
import { type Algorithm, HASHES, type IssuerFiles, loadIssuer, unavailable } from "./issuer.ts";
import type { SignAnswer, SignRequest } from "./pkcs11-child.ts";
import type { Pkcs11Target } from "./pkcs11-token.ts";
import { type QueueOptions, queued } from "./queue.ts";

export interface Pkcs11Options extends IssuerFiles, Pkcs11Target {
  /** How long one signature may take, login included. */
  readonly timeoutMs: number;
  readonly queue: QueueOptions;
}

const CKM_RSA_PKCS = 0x1;
const CKM_ECDSA = 0x1041;
/** DigestInfo of SHA-256 up to the digest. @see RFC 8017 section 9.2, note 1 */
const SHA256_DIGEST_INFO = Buffer.from("3031300d060960864801650304020105000420", "hex");
const CHILD = fileURLToPath(new URL("./pkcs11-child.ts", import.meta.url));

/**
 * An issuer whose key is on a PKCS#11 token. A process of its own holds the session: what hangs there is killed, what
 * crashes there is replaced, and a token that was pulled out and is back is opened anew.
 * @throws PortError rejected where chain or bundle cannot be used; the token is asked at the first signature
 * @see spec/20-verification.md "Certificates issued"
 */
export async function createPkcs11Signer(options: Pkcs11Options): Promise<SignerPort> {
  const issuer = await loadIssuer(options);
  return queued(checkedSigner(issuer, tokenSigner(options, issuer.algorithm)), options.queue);
}

function tokenSigner(options: Pkcs11Options, algorithm: Algorithm): SignBytes {
  const idle: ChildProcess[] = [];
  let refusedPin: PortError | null = null;

  async function attempt(child: ChildProcess, request: SignRequest): Promise<SignAnswer> {
    const answer = await ask(child, request, options.timeoutMs);
    if ("signature" in answer) idle.push(child);
    else child.kill("SIGKILL");
    return answer;
  }

  // One login at a time: a wrong PIN costs one try, and SoftHSM misses tokens that another process is at.
  let opening: Promise<unknown> = Promise.resolve();
  function openAndSign(request: SignRequest): Promise<SignAnswer> {
    const turn = opening.then(async () => {
      if (refusedPin !== null) throw refusedPin;
      const answer = await attempt(idle.pop() ?? start(options, idle), request);
      if ("error" in answer && answer.pin) refusedPin = errorOf(answer);
      return answer;
    });
    opening = turn.catch(() => undefined);
    return turn;
  }

  return async (bytes) => {
    // A token locks itself after a few wrong PINs: one refusal counts until a restart.
    if (refusedPin !== null) throw refusedPin;
    const request = requestOf(algorithm, bytes);
    const used = idle.pop();
    let answer = used === undefined ? null : await attempt(used, request);
    // A session of long ago may have died with its token; a new process tells.
    if (answer === null || ("error" in answer && answer.kind === "unavailable")) answer = await openAndSign(request);
    if ("error" in answer) throw errorOf(answer);
    return answer.signature;
  };
}

type Failure = Extract<SignAnswer, { readonly error: string }>;

function errorOf({ kind, error }: Failure): PortError {
  return new PortError(kind, "signer", `PKCS#11: ${error}`);
}

/** The digest is made here: tokens differ in the mechanisms that hash. */
function requestOf(algorithm: Algorithm, bytes: Uint8Array): SignRequest {
  const digest = createHash(HASHES[algorithm]).update(bytes).digest();
  return algorithm === "rsa-sha256"
    ? { mechanism: CKM_RSA_PKCS, data: Buffer.concat([SHA256_DIGEST_INFO, digest]) }
    : { mechanism: CKM_ECDSA, data: digest };
}

// What hangs must not outlive fleetd; one listener for all, since each signer may have several.
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

function start({ module, token, keyLabel, keyId, pinFile }: Pkcs11Options, idle: ChildProcess[]): ChildProcess {
  const target: Pkcs11Target = { module, token, keyLabel, keyId, pinFile };
  const child = fork(CHILD, [JSON.stringify(target), String(process.pid)], {
    env: environmentForOthers(),
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  // An idle token must not keep fleetd alive.
  child.unref();
  child.channel?.unref();
  running.add(child);
  child.once("error", () => child.kill("SIGKILL"));
  child.once("exit", () => {
    running.delete(child);
    const at = idle.indexOf(child);
    if (at >= 0) idle.splice(at, 1);
  });
  return child;
}

/** @throws PortError unavailable after the time limit: what hangs once hangs again, and is not asked twice */
function ask(child: ChildProcess, request: SignRequest, timeoutMs: number): Promise<SignAnswer> {
  return new Promise((resolve, reject) => {
    const end = (answer: SignAnswer) => {
      settle();
      resolve(answer);
    };
    const fail = (error: string) => end({ error, kind: "unavailable", pin: false });
    const onExit = (code: number | null, signal: string | null) => fail(`its process ended by ${signal ?? code}`);
    const settle = () => {
      clearTimeout(timer);
      child.removeListener("message", end);
      child.removeListener("exit", onExit);
    };
    const timer = setTimeout(() => {
      settle();
      child.kill("SIGKILL");
      reject(unavailable(`PKCS#11: no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    child.once("message", end);
    child.once("exit", onExit);
    child.send(request, (error) => {
      if (error !== null) fail("its process is gone");
    });
  });
}
