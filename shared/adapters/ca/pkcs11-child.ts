import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { openKey, type Pkcs11Target, type TokenKey } from "./pkcs11-token.ts";

/** Asked of the process: a mechanism (CK_MECHANISM_TYPE) and the bytes of C_Sign. */
export interface SignRequest {
  readonly mechanism: number;
  readonly data: Uint8Array;
}

/** `pin`: the token did not take the PIN, which must not be tried again unseen. */
export type SignAnswer =
  | { readonly signature: Uint8Array }
  | { readonly error: string; readonly kind: "unavailable" | "rejected"; readonly pin: boolean };

/** Results that trying again cannot mend. @see PKCS #11 v2.40 section 5.1.6 */
const CKR_PIN = new Map([
  [0xa0, "CKR_PIN_INCORRECT"],
  [0xa1, "CKR_PIN_INVALID"],
  [0xa2, "CKR_PIN_LEN_RANGE"],
  [0xa3, "CKR_PIN_EXPIRED"],
  [0xa4, "CKR_PIN_LOCKED"],
  [0x102, "CKR_USER_PIN_NOT_INITIALIZED"],
]);
const CKR_REJECTED = new Map([
  [0x63, "CKR_KEY_TYPE_INCONSISTENT"],
  [0x68, "CKR_KEY_FUNCTION_NOT_PERMITTED"],
  [0x70, "CKR_MECHANISM_INVALID"],
]);

function failureOf(error: unknown): SignAnswer {
  const code = error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : -1;
  const pin = CKR_PIN.get(code);
  if (pin !== undefined) return { error: `the token does not take the PIN: ${pin}`, kind: "rejected", pin: true };
  const rejected = CKR_REJECTED.get(code);
  if (rejected !== undefined) return { error: rejected, kind: "rejected", pin: false };
  const kind = error instanceof Error && error.name === "Rejected" ? "rejected" : "unavailable";
  const pinFault = error instanceof Error && "pin" in error && error.pin === true;
  return { error: error instanceof Error ? error.message : "no words", kind, pin: pinFault };
}

// The process that pkcs11.ts starts: a module that hangs or crashes takes this one with it, and not fleetd.
const target = JSON.parse(process.argv[2] ?? "{}") as Pkcs11Target;
let key: TokenKey | null = null;

const watch = new Worker(new URL("./pkcs11-watch.ts", import.meta.url), {
  workerData: Number(process.argv[3] ?? process.ppid),
});
watch.unref();
const watched = once(watch, "online");

/** @throws Error named Rejected: without its PIN the token is not opened, and no later try mends that by itself */
function readPin(): string {
  try {
    return readFileSync(target.pinFile, "utf8").split(/\r?\n/)[0] ?? "";
  } catch {
    throw Object.assign(new Error(`${target.pinFile} cannot be read`), { name: "Rejected" });
  }
}

process.on("message", async ({ mechanism, data }: SignRequest) => {
  let answer: SignAnswer;
  try {
    await watched;
    key ??= await openKey(target, readPin);
    answer = { signature: new Uint8Array(await key.sign(mechanism, data)) };
  } catch (error) {
    answer = failureOf(error);
  }
  process.send?.(answer);
});
// Not exit(): it would wait for a native call that hangs.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
