import { createHash, X509Certificate } from "node:crypto";
import type { Bank, Check } from "../../shared/attest/verdict.ts";
import { aDevice } from "../scenarios/fixtures.ts";
import type { RecordedTpm, SessionKeys, Statement, TpmKey } from "./tpm.ts";

interface Credential {
  readonly ek: string;
  readonly credentialBlob: string;
  readonly secret: string;
}

interface Begun {
  readonly session: string;
  readonly nonce: string;
  readonly pcrs: { readonly bank: Bank; readonly select: readonly number[] };
  readonly challenges: readonly Credential[];
}

interface Judged {
  readonly session: string;
  readonly confirm: string;
  readonly ldevid: string | null;
  readonly lak: string | null;
}

/** The answer to a session's last request: where it ended, and with what. */
export interface Answer {
  readonly step: "begin" | "evidence" | "confirm";
  readonly status: number;
  readonly code: string | null;
  readonly verdict: {
    readonly checks: readonly Check[];
    readonly codes?: readonly string[];
    readonly pcrs?: Readonly<Record<string, string>>;
    readonly bootProven?: boolean;
  } | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The evidence as bytes, before it is put on the wire. */
export interface Evidence {
  readonly quote: Statement;
  readonly pcrs: Readonly<Record<string, string>>;
  readonly eventLog: Uint8Array;
}

/** What a change may use: the TPM, the session's keys, and what fleetd asked for. */
export interface Asked {
  readonly tpm: RecordedTpm;
  readonly keys: SessionKeys;
  readonly bank: Bank;
  readonly select: readonly number[];
  readonly qualifyingData: Uint8Array;
}

/** The one thing that is different from an honest session. */
export interface Change {
  /** The key that begin is told is the AK. */
  readonly presented?: (keys: SessionKeys) => TpmKey;
  readonly evidence?: (honest: Evidence, asked: Asked) => Evidence | Promise<Evidence>;
}

export interface Machine {
  readonly tpm: RecordedTpm;
  readonly keys: SessionKeys;
  readonly eventLog: Uint8Array;
  /** Fields of its report that are other than a test machine's. */
  readonly report?: Readonly<Record<string, unknown>>;
}

const UUID = "4c4c4544-0034-4410-8043-b7c04f335131";
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const bytes = (text: string) => new Uint8Array(Buffer.from(text, "base64"));

/** begin, evidence and confirm of one machine, up to the first refusal. */
export async function attest(url: string, machine: Machine, change: Change = {}): Promise<Answer> {
  const { tpm, keys } = machine;
  const presented = change.presented?.(keys) ?? keys.ak;
  const begun = await post(url, "begin", {
    serial: aDevice().serial,
    uuid: UUID,
    tpm: { family: "2.0", manufacturer: "LAB", firmware: "0x00010000" },
    eks: tpm.eks.map((ek) => ({ public: base64(ek.public) })),
    ak: { public: base64(presented.public) },
    ldevid: { public: base64(keys.ldevid.public) },
  });
  if (begun.status !== 200) return begun;
  const judged = await sendEvidence(url, machine, begun.body as unknown as Begun, change);
  if (judged.status !== 200) return judged;
  return sendConfirm(url, machine, judged.body as unknown as Judged);
}

async function sendEvidence(url: string, machine: Machine, begun: Begun, change: Change): Promise<Answer> {
  const { tpm, keys, eventLog } = machine;
  const { bank, select } = begun.pcrs;
  const activations: string[] = [];
  for (const { ek, credentialBlob, secret } of begun.challenges)
    activations.push(base64(await tpm.activate(ek, keys.ak, bytes(credentialBlob), bytes(secret))));
  const report = Buffer.from(JSON.stringify({ ...reported(), ...machine.report }));
  const qualifyingData = sha256("fleetd attest v1", bytes(begun.nonce), sha256(report));
  const { values, ...quote } = await tpm.quote(keys.ak, [{ bank, pcrs: select }], qualifyingData);
  const honest: Evidence = { quote, pcrs: values[bank] ?? {}, eventLog };
  const sent = (await change.evidence?.(honest, { tpm, keys, bank, select, qualifyingData })) ?? honest;
  const statement = (one: Statement) => ({ attest: base64(one.attest), signature: base64(one.signature) });
  return post(url, "evidence", {
    session: begun.session,
    activations,
    quote: statement(sent.quote),
    pcrs: sent.pcrs,
    eventLog: base64(sent.eventLog),
    ldevidCertify: statement(await tpm.certify(keys.ak)),
    report: base64(report),
  });
}

async function sendConfirm(url: string, { tpm, keys }: Machine, judged: Judged): Promise<Answer> {
  const leaf = (pem: string | null) => sha256(pem === null ? "" : new X509Certificate(pem).raw);
  const parts = [bytes(judged.confirm), leaf(judged.ldevid), leaf(judged.lak)];
  const signature = await tpm.sign(keys.ldevid, Buffer.concat([Buffer.from("fleetd confirm v1"), ...parts]));
  const confirmed = await post(url, "confirm", { session: judged.session, signature: base64(signature) });
  const { verdict } = judged as unknown as Pick<Answer, "verdict">;
  return { ...confirmed, verdict, body: { ...confirmed.body, ldevid: judged.ldevid, lak: judged.lak } };
}

/** The install code of a confirm's answer, opened by the TPM that it is for. */
export async function openedCode({ tpm, keys }: Machine, answer: Answer): Promise<string> {
  const { ek, credentialBlob, secret } = answer.body.installCode as Credential;
  return Buffer.from(await tpm.activate(ek, keys.ak, bytes(credentialBlob), bytes(secret))).toString();
}

/** Each failed check of an answer as "name: what was seen"; the problem's own words where there is no verdict. */
export function reasons({ verdict, body }: Answer): string[] {
  if (verdict === null) return [String(body.detail)];
  return verdict.checks.filter((check) => !check.ok).map((check) => `${check.name}: ${check.seen}`);
}

async function post(url: string, step: Answer["step"], body: unknown): Promise<Answer> {
  const response = await fetch(`${url}/attest/v1/${step}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answered = (await response.json()) as Answer["body"];
  const { code = null, verdict = null } = answered as Partial<Pick<Answer, "code" | "verdict">>;
  return { step, status: response.status, code, verdict, body: answered };
}

function reported() {
  const mac = aDevice().interfaces[0]?.primaryMac;
  const clock = `${new Date().toISOString().slice(0, 19)}Z`;
  return { mac, lldp: null, hookosVersion: "1", commandLine: "fleet_stage=hookos", clock, uuid: UUID };
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
