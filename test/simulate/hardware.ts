import { createECDH, createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureBoot } from "../../infra/lab/machine/firmware.ts";
import { type LoadedKey, SoftTpm } from "../../infra/lab/tpm/soft-tpm.ts";
import { fakeAuthority } from "../fakes/authority.ts";
import { bytesOf } from "./random.ts";

/** What a machine is made of: it outlives every simulation of the process, since keys take longest. */
export interface Board {
  readonly tpm: SoftTpm;
  readonly ak: LoadedKey;
  readonly ldevid: LoadedKey;
  /** RSA first: all boards of the process share that key, which only some devices have approved. */
  readonly digests: readonly [rsa: string, ecc: string];
  booted: BootKind | null;
}

/** HookOS or the installed system, signed by whom the profile accepts or by somebody else. */
export type BootKind = "good" | "foreign" | "os" | "os-foreign";

export const accepted = fakeAuthority("Simulated boot authority");
const foreign = fakeAuthority("Somebody's boot authority");
/** Where simulated time begins. */
export const START_MS = Date.UTC(2026, 10, 29, 12);
// Nodes renew only what a certificate of that time still backs.
export const issuer = fakeAuthority("Simulated issuer", () => START_MS);
export const COMMAND_LINE = "console=ttyS0 fleet_hookos=1";
export const OS_COMMAND_LINE = "talos.platform=metal fleet_os=1";

const folder = mkdtempSync(join(tmpdir(), "fleetd-simulate-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const boards: Board[] = [];
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });

const measured = new Map<BootKind, ReturnType<typeof measureBoot>>();

function measuredAs(kind: BootKind): ReturnType<typeof measureBoot> {
  const authority = (kind === "good" || kind === "os" ? accepted : foreign).der;
  const made =
    measured.get(kind) ??
    measureBoot({
      banks: ["sha256", "sha384"],
      authority,
      dbCertificates: [authority],
      secureBoot: true,
      commandLine: kind === "good" || kind === "foreign" ? COMMAND_LINE : OS_COMMAND_LINE,
    });
  measured.set(kind, made);
  return made;
}

/** The n-th board of the process. */
export async function board(n: number): Promise<Board> {
  const known = boards[n];
  if (known !== undefined) return known;
  const of = join(folder, String(n));
  mkdirSync(of);
  const ekEcc = elliptic(`endorsement key ${n}`);
  const state = { ekRsa: rsa, ekEcc, storageKey: Buffer.alloc(32, n).toString("base64"), resetCount: 0 };
  writeFileSync(join(of, "soft-tpm.json"), JSON.stringify(state));
  const tpm = new SoftTpm(of);
  const [first = "", second = ""] = await tpm.ekDigests();
  const made: Board = {
    tpm,
    ak: tpm.createKey("restricted"),
    ldevid: tpm.createKey("unrestricted"),
    digests: [first, second],
    booted: null,
  };
  boards[n] = made;
  return made;
}

/** Measures a boot into the board's TPM; returns its log. */
export async function measure(one: Board, kind: BootKind): Promise<Uint8Array> {
  const { eventLog, extends: extended } = measuredAs(kind);
  if (one.booted !== kind) await one.tpm.powerOn(extended);
  one.booted = kind;
  return eventLog;
}

/** A P-256 key that its label decides, PKCS#8 in PEM. */
function elliptic(label: string): string {
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(bytesOf(label, 32));
  const coordinate = (from: number) =>
    ecdh
      .getPublicKey()
      .subarray(from, from + 32)
      .toString("base64url");
  const key = createPrivateKey({
    format: "jwk",
    key: {
      kty: "EC",
      crv: "P-256",
      x: coordinate(1),
      y: coordinate(33),
      d: ecdh.getPrivateKey().toString("base64url"),
    },
  });
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}
