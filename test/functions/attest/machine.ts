import { createHash, randomUUID, X509Certificate } from "node:crypto";
import { type Boot, type LabBank, measureBoot } from "../../../infra/lab/machine/firmware.ts";
import type { LoadedKey, SoftTpm } from "../../../infra/lab/tpm/soft-tpm.ts";
import { encode } from "../../../shared/formats/codec.ts";
import { TPM2B_PUBLIC, type TpmaObject, type TpmtPublic } from "../../../shared/formats/tpm2/public.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The answer to begin, as the protocol names its parts. */
export interface Begun {
  readonly session: string;
  readonly nonce: string;
  readonly pcrs: { readonly bank: "sha256" | "sha384"; readonly select: readonly number[] };
  readonly challenges: readonly { readonly ek: string; readonly credentialBlob: string; readonly secret: string }[];
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const sha256 = (...parts: (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();

let machines = 0;

/** A machine with one TPM that talks to fleetd's attest routes as an agent does, or as no honest agent would. */
export class Machine {
  readonly tpm: SoftTpm;
  readonly url: string;
  readonly serial: string;
  readonly uuid: string = randomUUID();
  readonly ak: LoadedKey;
  readonly ldevid: LoadedKey;
  mac: string;
  commandLine = "console=ttyS0";
  eventLog: Uint8Array = new Uint8Array(0);

  constructor(tpm: SoftTpm, url: string) {
    machines++;
    this.tpm = tpm;
    this.url = url;
    this.serial = `SN${String(machines).padStart(4, "0")}`;
    this.mac = `52:54:00:00:${Math.floor(machines / 256)
      .toString(16)
      .padStart(2, "0")}:${(machines % 256).toString(16).padStart(2, "0")}`;
    this.ak = tpm.createKey("restricted");
    this.ldevid = tpm.createKey("unrestricted");
  }

  async boot(boot: Omit<Boot, "commandLine">): Promise<void> {
    const banks: readonly LabBank[] = ["sha256", "sha384"];
    const measured = measureBoot({ banks, ...boot, commandLine: this.commandLine });
    this.eventLog = measured.eventLog;
    await this.tpm.powerOn(measured.extends);
  }

  async post(step: string, body: unknown): Promise<Answer> {
    const response = await fetch(`${this.url}/attest/v1/${step}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer["body"] };
  }

  beginBody(change: Readonly<Record<string, unknown>> = {}) {
    const key = (one: LoadedKey) => ({ public: base64(one.public), private: base64(one.private) });
    return {
      serial: this.serial,
      uuid: this.uuid,
      tpm: { family: "2.0", manufacturer: "LAB", firmware: "0x00010000" },
      eks: this.tpm.eks().map((area) => ({ public: base64(area) })),
      ak: key(this.ak),
      ldevid: key(this.ldevid),
      ...change,
    };
  }

  begin(change: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.post("begin", this.beginBody(change));
  }

  /** A session, where begin must give one. */
  async begun(): Promise<Begun> {
    const { status, body } = await this.begin();
    if (status !== 200) throw new Error(`begin: ${status} ${JSON.stringify(body)}`);
    return body as unknown as Begun;
  }

  async activations(begun: Begun): Promise<string[]> {
    const digests = await this.tpm.ekDigests();
    return begun.challenges.map(({ ek, credentialBlob, secret }) => {
      const bytes = [credentialBlob, secret].map((text) => Buffer.from(text, "base64"));
      const [blob, seed] = bytes;
      if (blob === undefined || seed === undefined) throw new Error("no credential");
      return base64(this.tpm.activate(digests.indexOf(ek), this.ak, blob, seed));
    });
  }

  report(change: Readonly<Record<string, unknown>> = {}): Uint8Array {
    const { mac, commandLine, uuid } = this;
    // The same at each call: a test quotes one report and sends another copy of it.
    const clock = "2026-11-29T12:00:00Z";
    return Buffer.from(JSON.stringify({ mac, lldp: null, hookosVersion: "1.0", commandLine, clock, uuid, ...change }));
  }

  quote(begun: Begun, report: Uint8Array) {
    const qualifyingData = sha256("fleetd attest v1", Buffer.from(begun.nonce, "base64"), sha256(report));
    return this.tpm.quote(this.ak, begun.pcrs.bank, begun.pcrs.select, qualifyingData);
  }

  async evidenceBody(begun: Begun, change: Readonly<Record<string, unknown>> = {}, report = this.report()) {
    const quote = this.quote(begun, report);
    const certify = this.tpm.certify(this.ak, this.ldevid, Uint8Array.of(1, 2));
    return {
      session: begun.session,
      activations: await this.activations(begun),
      quote: { attest: base64(quote.attest), signature: base64(quote.signature) },
      pcrs: quote.pcrs,
      eventLog: base64(this.eventLog),
      ldevidCertify: { attest: base64(certify.attest), signature: base64(certify.signature) },
      report: base64(report),
      ...change,
    };
  }

  /** What confirm is asked with: the signature by the LDevID key over what evidence answered. */
  confirmBody(judged: Answer) {
    const { session, confirm, ldevid, lak } = judged.body;
    const leaf = (pem: unknown) => sha256(pem === null ? "" : new X509Certificate(String(pem)).raw);
    const nonce = Buffer.from(String(confirm), "base64");
    const message = Buffer.concat([Buffer.from("fleetd confirm v1"), nonce, leaf(ldevid), leaf(lak)]);
    return { session, signature: base64(this.tpm.sign(this.ldevid, message)) };
  }

  confirm(judged: Answer, change: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return this.post("confirm", { ...this.confirmBody(judged), ...change });
  }

  /** The code that a credential wraps for this machine's AK. */
  async code(answer: Answer): Promise<string> {
    const { ek, credentialBlob, secret } = answer.body.installCode as Begun["challenges"][number];
    const index = (await this.tpm.ekDigests()).indexOf(ek);
    const bytes = [credentialBlob, secret].map((text) => Buffer.from(text, "base64"));
    const [blob = Buffer.of(), seed = Buffer.of()] = bytes;
    return Buffer.from(this.tpm.activate(index, this.ak, blob, seed)).toString();
  }

  async evidence(begun: Begun, change: Readonly<Record<string, unknown>> = {}, report?: Uint8Array): Promise<Answer> {
    return this.post("evidence", await this.evidenceBody(begun, change, report ?? this.report()));
  }
}

/** A public area with some attributes turned over. */
export function withAttributes(area: TpmtPublic, change: Partial<TpmaObject>): string {
  return base64(encode(TPM2B_PUBLIC, { ...area, objectAttributes: { ...area.objectAttributes, ...change } }));
}

/** Base64 with one bit of a byte turned; counted from the end where negative. */
export function flipped(text: string, at: number): string {
  const bytes = Buffer.from(text, "base64");
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return base64(bytes);
}
