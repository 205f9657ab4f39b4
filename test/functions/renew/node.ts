import { createHash } from "node:crypto";
import { measureBoot } from "../../../infra/lab/machine/firmware.ts";
import { attest, openedCode } from "../../recorded/session.ts";
import type { Statement } from "../../recorded/tpm.ts";
import { expectDescribed } from "../problem-shape.ts";
import { enrolling, type NodeKey, type NodeTpm } from "./node-tpm.ts";

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

type Signer = "hookos" | "os" | "foreign";

/** Where a node lives: fleetd's two listeners, and what its firmware boots. */
export interface NodeSite {
  readonly device: string;
  readonly admin: string;
  readonly signers: Readonly<Record<Signer, { readonly der: Uint8Array }>>;
  readonly hookosCommandLine: string;
  readonly osCommandLine: string;
  /** Of its report in HookOS. */
  readonly lldp: string | null;
  /** The UUID that it attested with. */
  uuid(): Promise<string>;
  becomesActive(): Promise<void>;
}

export interface Certificates {
  readonly ldevid: string;
  readonly lak: string;
}

export interface Begun {
  readonly session: string;
  readonly nonce: string;
  readonly pcrs: { readonly bank: "sha256" | "sha384"; readonly select: readonly number[] };
}

/** One request of a renewal as JSON. */
export type Body = Readonly<Record<string, unknown>>;

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const bytes = (text: string) => Buffer.from(text, "base64");
const statement = ({ attest: a, signature }: Statement) => ({ attest: base64(a), signature: base64(signature) });

export function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  return parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
}

export async function post(url: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const answered = (await response.json()) as Answer["body"];
  if (path.startsWith("/renew/v1/")) expectDescribed(path, response.status, answered);
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: answered };
}

/** A machine with one TPM: enrolled from HookOS, installed, and then a node that renews. */
export class Node {
  readonly tpm: NodeTpm;
  readonly site: NodeSite;
  readonly lak: NodeKey;
  ldevid: NodeKey;
  certificates: Certificates = { ldevid: "", lak: "" };
  commandLine = "";
  eventLog: Uint8Array = new Uint8Array(0);

  constructor(tpm: NodeTpm, site: NodeSite, lak: NodeKey, ldevid: NodeKey) {
    this.tpm = tpm;
    this.site = site;
    this.lak = lak;
    this.ldevid = ldevid;
  }

  /** Enrolled by the device protocol, installed, active, and booted into its own system. */
  static async installed(tpm: NodeTpm, site: NodeSite, signer: Signer = "os"): Promise<Node> {
    await tpm.powerOn([]);
    const node = new Node(tpm, site, await tpm.create("lak"), await tpm.create("ldevid"));
    await node.boot("hookos", site.hookosCommandLine);
    await node.enrol();
    await site.becomesActive();
    await node.boot(signer, site.osCommandLine);
    return node;
  }

  async boot(signer: Signer, commandLine: string): Promise<void> {
    const db = Object.values(this.site.signers).map((one) => one.der);
    const authority = this.site.signers[signer].der;
    const measured = measureBoot({ authority, dbCertificates: db, commandLine, secureBoot: true });
    this.eventLog = measured.eventLog;
    this.commandLine = commandLine;
    await this.tpm.powerOn(measured.extends.map(({ pcr, digests }) => ({ pcr, digests: { ...digests } })));
  }

  /** begin, evidence, confirm, and the configuration read with the code: as a provision has it. */
  async enrol(): Promise<void> {
    const keys = { ak: this.lak, otherAk: this.lak, ldevid: this.ldevid };
    const report = { commandLine: this.commandLine, lldp: this.site.lldp };
    const machine = { tpm: enrolling(this.tpm, this.ldevid), keys, eventLog: this.eventLog, report };
    const answer = await attest(this.site.device, machine);
    if (answer.status !== 200 || answer.body.outcome !== "install")
      throw new Error(`not told to install: ${JSON.stringify(answer)}`);
    this.certificates = { ldevid: String(answer.body.ldevid), lak: String(answer.body.lak) };
    const code = await openedCode(machine, answer);
    const got = await fetch(`${this.site.device}/talos/config?uuid=${await this.site.uuid()}&code=${code}`);
    const text = await got.text();
    if (got.status !== 200) throw new Error(`no configuration: ${got.status} ${text}`);
  }

  begin(shown: Body = { ...this.certificates }): Promise<Answer> {
    return post(this.site.admin, "/renew/v1/begin", shown);
  }

  async begun(shown?: Body): Promise<Begun> {
    const { status, body } = await this.begin(shown);
    if (status !== 200) throw new Error(`begin: ${status} ${JSON.stringify(body)}`);
    return body as unknown as Begun;
  }

  report(): Uint8Array {
    return Buffer.from(JSON.stringify({ commandLine: this.commandLine }));
  }

  /** An honest request for this LDevID key; `uncertified` leaves TPM2_Certify away, as the same key may. */
  async request(
    begun: Begun,
    ldevid = this.ldevid,
    { uncertified = false, report = this.report() } = {},
  ): Promise<Body> {
    const fields = [bytes(begun.nonce), sha256(report), sha256(ldevid.public)];
    const { bank, select } = begun.pcrs;
    const { values, ...quote } = await this.tpm.quote(
      this.lak,
      [{ bank, pcrs: select }],
      sha256("fleetd renew v1", ...fields),
    );
    const message = Buffer.concat([Buffer.from("fleetd renew-sign v1"), ...fields]);
    return {
      session: begun.session,
      quote: statement(quote),
      pcrs: values[bank],
      eventLog: base64(this.eventLog),
      report: base64(report),
      ldevid: { public: base64(ldevid.public) },
      ...(uncertified ? {} : { ldevidCertify: statement(await this.tpm.certify(this.lak, ldevid)) }),
      signature: base64(await this.tpm.sign(this.ldevid, message)),
    };
  }

  evidence(body: Body): Promise<Answer> {
    return post(this.site.admin, "/renew/v1/evidence", body);
  }

  /** A whole renewal whose answer is not kept. */
  async renewal(ldevid = this.ldevid): Promise<Answer> {
    return this.evidence(await this.request(await this.begun(), ldevid));
  }

  /** A whole renewal that must work; the node keeps what it was given. */
  async renewed(ldevid = this.ldevid): Promise<Certificates> {
    const { status, body } = await this.renewal(ldevid);
    if (status !== 200) throw new Error(`not renewed: ${status} ${JSON.stringify(body)}`);
    this.ldevid = ldevid;
    this.certificates = { ldevid: String(body.ldevid), lak: String(body.lak) };
    return this.certificates;
  }
}
