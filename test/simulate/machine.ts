import { createHash, X509Certificate } from "node:crypto";
import { type Board, type BootKind, COMMAND_LINE, measure, OS_COMMAND_LINE } from "./hardware.ts";

/** The answer to begin, as far as a machine reads it. */
interface Begun {
  readonly session: string;
  readonly nonce: string;
  readonly pcrs: { readonly bank: "sha256" | "sha384"; readonly select: readonly number[] };
  readonly challenges: readonly { readonly ek: string; readonly credentialBlob: string; readonly secret: string }[];
}

type Body = Readonly<Record<string, unknown>>;

export type Habit = "good" | "slow" | "refusing" | "dead";
export const LIES = ["skips", "success-after-failed", "backwards", "fails", "unordered", "revives"] as const;
export type Lie = "honest" | (typeof LIES)[number];

/** The certificates that a machine holds: of its own, or what an impostor took from another. */
export interface Certificates {
  readonly ldevid: string;
  readonly lak: string;
}

/** A machine: its board, disk, BMC, and what runs on it now. */
export class Machine {
  readonly index: number;
  readonly board: Board;
  readonly serial: string;
  readonly uuid: string;
  readonly mac: string;
  readonly diskSerial: string;
  bmc: Habit | null;
  lie: Lie;
  running: "off" | "hookos" | "disk" | "nothing" = "off";
  bootKind: BootKind = "good";
  /** What the disk holds: nothing that boots, or a system with the code that it was installed with. */
  disk: { readonly code: string | null; readonly run: string } | null = null;
  /** The configuration that the system on the disk has read, and its kubelet's state. */
  config: { readonly token: string | null; readonly node: string; readonly run: string } | null = null;
  csr: string | null = null;
  /** How often the system on the disk asked for its configuration. */
  reads = 0;
  /** What its last attestation gave it, and what the installed system holds of that. */
  offered: Certificates | null = null;
  certificates: Certificates | null = null;
  /** A renewal that has begun: fleetd's answer, and whose certificates were shown. */
  renewing: { readonly answer: Body; readonly of: Machine } | null = null;
  joined = false;
  keys = 0;
  /** HookOS: how far attestation came; the code that it was given. */
  phase: "begin" | "evidence" | "confirm" | "agent" = "begin";
  code: string | null = null;
  busy = false;
  answer: Body | null = null;
  /** Counts its starts: an answer to an earlier one reaches nobody. */
  life = 0;
  /** Refused in a row, or told to wait. */
  refusals = 0;

  constructor(index: number, board: Board, bmc: Habit | null, lie: Lie) {
    this.index = index;
    this.board = board;
    this.bmc = bmc;
    this.lie = lie;
    const id = index + 1;
    this.serial = `SN000${id}`;
    this.uuid = `4c4c4544-0000-4000-8000-0000000000${hex(id)}`;
    this.mac = `52:54:00:00:00:${hex(id)}`;
    this.diskSerial = `DISK000${id}`;
  }

  get name(): string {
    return `m${this.index + 1}`;
  }

  get address(): string {
    return `10.0.0.${this.index + 1}`;
  }

  powerOff(): void {
    this.running = "off";
    this.#forget();
  }

  /** Firmware tries the network first where it is let, then the disk. */
  powerOn(isLetIn: boolean): void {
    this.#forget();
    this.running = isLetIn ? "hookos" : this.disk !== null ? "disk" : "nothing";
  }

  #forget(): void {
    this.life++;
    this.refusals = 0;
    this.phase = "begin";
    this.code = null;
    this.answer = null;
    this.renewing = null;
    this.busy = false;
  }

  beginBody(as: { readonly serial: string; readonly uuid: string } = this): Body {
    const { tpm, ak, ldevid } = this.board;
    return {
      serial: as.serial,
      uuid: as.uuid,
      tpm: { family: "2.0", manufacturer: "LAB", firmware: "0x00010000" },
      eks: tpm.eks().map((area) => ({ public: base64(area) })),
      ak: { public: base64(ak.public), private: base64(ak.private) },
      ldevid: { public: base64(ldevid.public), private: base64(ldevid.private) },
    };
  }

  async evidenceBody(answer: Body): Promise<Body> {
    const begun = answer as unknown as Begun;
    const { tpm, ak, ldevid } = this.board;
    const eventLog = await measure(this.board, this.bootKind);
    const { mac, uuid } = this;
    const said = {
      mac,
      lldp: null,
      hookosVersion: "1.0",
      commandLine: COMMAND_LINE,
      clock: "2026-11-29T12:00:00Z",
      uuid,
    };
    const report = Buffer.from(JSON.stringify(said));
    const extra = sha256("fleetd attest v1", Buffer.from(begun.nonce, "base64"), sha256(report));
    const quote = tpm.quote(ak, begun.pcrs.bank, begun.pcrs.select, extra);
    const certify = tpm.certify(ak, ldevid, Uint8Array.of(1, 2));
    return {
      session: begun.session,
      activations: begun.challenges.map((c) => base64(this.#activate(c))),
      quote: { attest: base64(quote.attest), signature: base64(quote.signature) },
      pcrs: quote.pcrs,
      eventLog: base64(eventLog),
      ldevidCertify: { attest: base64(certify.attest), signature: base64(certify.signature) },
      report: base64(report),
    };
  }

  confirmBody(answer: Body): Body {
    const { session, confirm, ldevid, lak } = answer;
    const leaf = (pem: unknown) => sha256(pem === null ? "" : new X509Certificate(String(pem)).raw);
    const nonce = Buffer.from(String(confirm), "base64");
    const message = Buffer.concat([Buffer.from("fleetd confirm v1"), nonce, leaf(ldevid), leaf(lak)]);
    return { session, signature: base64(this.board.tpm.sign(this.board.ldevid, message)) };
  }

  /** Quote, log and signatures of a renewal by this board's keys; the LDevID key stays the same. */
  async renewalBody(answer: Body, kind: BootKind): Promise<Body> {
    const begun = answer as unknown as Begun;
    const { tpm, ak, ldevid } = this.board;
    const eventLog = await measure(this.board, kind);
    const report = Buffer.from(JSON.stringify({ commandLine: OS_COMMAND_LINE }));
    const fields = [Buffer.from(begun.nonce, "base64"), sha256(report), sha256(ldevid.public)];
    const quote = tpm.quote(ak, begun.pcrs.bank, begun.pcrs.select, sha256("fleetd renew v1", ...fields));
    return {
      session: begun.session,
      quote: { attest: base64(quote.attest), signature: base64(quote.signature) },
      pcrs: quote.pcrs,
      eventLog: base64(eventLog),
      report: base64(report),
      ldevid: { public: base64(ldevid.public) },
      signature: base64(tpm.sign(ldevid, Buffer.concat([Buffer.from("fleetd renew-sign v1"), ...fields]))),
    };
  }

  /** The code that confirm wrapped for this board. */
  unwrap(answer: Body): string {
    return Buffer.from(this.#activate(answer.installCode as Begun["challenges"][number])).toString();
  }

  /** What it cannot open, it answers with other bytes. */
  #activate(credential: Begun["challenges"][number]): Uint8Array {
    const { tpm, ak, digests } = this.board;
    const bytes = (text: string) => Buffer.from(text, "base64");
    try {
      return tpm.activate(
        digests.indexOf(credential.ek),
        ak,
        bytes(credential.credentialBlob),
        bytes(credential.secret),
      );
    } catch {
      return Buffer.alloc(32, 7);
    }
  }
}

const hex = (id: number): string => id.toString(16).padStart(2, "0");
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const sha256 = (...parts: (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
