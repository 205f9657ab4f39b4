import { createHash, X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LoadedKey, SoftTpm } from "../tpm/soft-tpm.ts";
import type { AttestExit, AttestOptions } from "./attest-run.ts";
import { type HookosReading, readHookosRoot } from "./hookos-root.ts";
import { postJson } from "./https.ts";

interface Credential {
  readonly ek: string;
  readonly credentialBlob: string;
  readonly secret: string;
}
interface Begun {
  readonly session: string;
  readonly nonce: string;
  readonly pcrs: { readonly bank: "sha256" | "sha384"; readonly select: readonly number[] };
  readonly challenges: readonly Credential[];
}
interface Judged {
  readonly session: string;
  readonly confirm: string;
  readonly ldevid: string | null;
  readonly lak: string | null;
}
interface Confirmed {
  readonly outcome: "install" | "attested";
  readonly installCode?: Credential;
}
interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly verdict?: { readonly checks?: readonly Check[] };
}
interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly seen: string;
  readonly expected: string;
}

class Refused extends Error {}

/** tpm2_certify cannot set qualifyingData and sends this: the twin does the same. */
const CERTIFY_DATA = Uint8Array.of(0x00, 0xff, 0x55, 0xaa);

/** tink-attest's twin for the software TPM: the same protocol, words, files and exit codes. */
export async function runAttestClient(tpm: SoftTpm, options: AttestOptions): Promise<AttestExit> {
  const machine = readHookosRoot(options.root);
  const say = (text: string) => options.say(`tink-attest: ${text}`);
  mkdirSync(machine.fleetDirectory, { recursive: true });
  for (const name of ["install_code", "attested"]) rmSync(join(machine.fleetDirectory, name), { force: true });
  const client = new AttestClient(tpm, machine, options, say);
  for (let tries = 1; ; tries++) {
    try {
      await client.attest();
      return 0;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (!(error instanceof Refused)) say(error.message);
    }
    if (options.signal.aborted) return 1;
    if (tries >= options.tries) {
      say(`not attested after ${tries} tries`);
      return 1;
    }
    await sleep(options.gapSeconds * 1000, undefined, { signal: options.signal }).catch(() => undefined);
  }
}

class AttestClient {
  readonly #tpm: SoftTpm;
  readonly #machine: HookosReading;
  readonly #options: AttestOptions;
  readonly #say: (text: string) => void;
  readonly #ak: LoadedKey;
  readonly #ldevid: LoadedKey;

  constructor(tpm: SoftTpm, machine: HookosReading, options: AttestOptions, say: (text: string) => void) {
    this.#tpm = tpm;
    this.#machine = machine;
    this.#options = options;
    this.#say = say;
    this.#ak = tpm.createKey("restricted");
    this.#ldevid = tpm.createKey("unrestricted");
  }

  async attest(): Promise<void> {
    const begun = await this.#begin();
    const judged = await this.#evidence(begun);
    const { outcome, installCode } = await this.#confirm(judged);
    if (outcome === "install" && installCode !== undefined) {
      const code = await this.#activate(installCode);
      const file = join(this.#machine.fleetDirectory, "install_code");
      writeFileSync(`${file}.new`, code, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      this.#say("told to install; the code is ready for the Workflow");
    }
    writeFileSync(join(this.#machine.fleetDirectory, "attested"), `${now()}\n`, { mode: 0o600 });
    this.#say(`attested (${outcome})`);
  }

  #begin(): Promise<Begun> {
    const key = (one: LoadedKey) => ({ public: base64(one.public), private: base64(one.private) });
    return this.#post("begin", {
      serial: this.#machine.serial,
      uuid: this.#machine.uuid,
      tpm: { family: "2.0", manufacturer: "LAB", firmware: "0x00010000" },
      eks: this.#tpm.eks().map((area) => ({ public: base64(area) })),
      ak: key(this.#ak),
      ldevid: key(this.#ldevid),
    });
  }

  async #evidence(begun: Begun): Promise<Judged> {
    const activations: string[] = [];
    for (const challenge of begun.challenges) activations.push(base64(await this.#activate(challenge)));
    const { machine, report } = { machine: this.#machine, report: this.#report() };
    const qualifyingData = sha256("fleetd attest v1", Buffer.from(begun.nonce, "base64"), sha256(report));
    const { bank, select } = begun.pcrs;
    const quote = this.#tpm.quote(this.#ak, bank, select, qualifyingData);
    const certify = this.#tpm.certify(this.#ak, this.#ldevid, CERTIFY_DATA);
    return this.#post("evidence", {
      session: begun.session,
      activations,
      quote: { attest: base64(quote.attest), signature: base64(quote.signature) },
      pcrs: quote.pcrs,
      eventLog: base64(machine.eventLog),
      ldevidCertify: { attest: base64(certify.attest), signature: base64(certify.signature) },
      report: base64(report),
    });
  }

  #confirm(judged: Judged): Promise<Confirmed> {
    const confirm = Buffer.from(judged.confirm, "base64");
    const message = Buffer.concat([Buffer.from("fleetd confirm v1"), confirm, leaf(judged.ldevid), leaf(judged.lak)]);
    const signature = base64(this.#tpm.sign(this.#ldevid, message));
    return this.#post("confirm", { session: judged.session, signature });
  }

  async #activate(credential: Credential): Promise<Uint8Array> {
    const ek = (await this.#tpm.ekDigests()).indexOf(credential.ek);
    if (ek < 0) throw new Error(`no EK ${credential.ek} here`);
    const [blob, secret] = [credential.credentialBlob, credential.secret].map((text) => Buffer.from(text, "base64"));
    if (blob === undefined || secret === undefined) throw new Error("no credential");
    return this.#tpm.activate(ek, this.#ak, blob, secret);
  }

  #report(): Buffer {
    const { mac, lldpFrame, hookosVersion, commandLine, uuid } = this.#machine;
    const lldp = lldpFrame === null ? null : base64(lldpFrame);
    return Buffer.from(JSON.stringify({ mac, lldp, hookosVersion, commandLine, clock: now(), uuid }));
  }

  async #post<T>(step: string, body: unknown): Promise<T> {
    const { url, caFile, signal } = this.#options;
    const ca = readFileSync(caFile, "utf8");
    const answer = await postJson(`${url}/attest/v1/${step}`, body, ca, signal).catch((error: Error) => {
      throw new Error(`${step}: ${error.message}`);
    });
    if (answer.status === 200) return answer.body as T;
    const problem = answer.body as Problem;
    this.#say(`${step}: ${answer.status} ${problem.code}: ${problem.detail}`);
    for (const { name, ok, seen, expected } of problem.verdict?.checks ?? [])
      if (!ok) this.#options.say(`  ${name}: saw ${seen}; expected ${expected}`);
    throw new Refused(step);
  }
}

/** SHA-256 of a PEM text's first certificate; of nothing where there is none. */
function leaf(pem: string | null): Buffer {
  return sha256(pem === null ? "" : new X509Certificate(pem).raw);
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
