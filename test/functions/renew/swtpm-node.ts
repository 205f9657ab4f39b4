import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SwTpm } from "../../../infra/lab/tpm/swtpm.ts";
import type { Extend } from "../../recorded/sets.ts";
import type { Quote, RecordedTpm, Selected, Statement } from "../../recorded/tpm.ts";
import type { NodeKey, NodeTpm } from "./node-tpm.ts";

const run = promisify(execFile);

/** Template H-3, made by swtpm_setup; its authorisation is empty. */
const EK = "0x81010016";
const BORN = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth";
const SRK = `${BORN}|noda|restricted|decrypt`;
const ATTRIBUTES = { lak: `${BORN}|restricted|sign`, ldevid: `${BORN}|sign` } as const;
const SHA256_BYTES = 32;
const CREDENTIAL_HEAD = Buffer.from("badcc0de00000001", "hex");

type Algorithms = Readonly<Record<"lak" | "ldevid", string>>;

/** A real swtpm by tpm2-tools; the LDevID keys may be RSA or P-256, the LAK is what `lak` says. */
export class SwtpmNode implements NodeTpm {
  readonly name = "swtpm";
  readonly eks: RecordedTpm["eks"];
  readonly #tpm: SwTpm;
  readonly #folder: string;
  readonly #algorithms: Algorithms;
  /** Since the last boot: key → context. */
  #loaded = new Map<string, string>();

  private constructor(tpm: SwTpm, folder: string, eks: RecordedTpm["eks"], algorithms: Algorithms) {
    this.#tpm = tpm;
    this.#folder = folder;
    this.eks = eks;
    this.#algorithms = algorithms;
  }

  /** @throws Error with the words of the tool that failed */
  static async open(algorithms = { lak: "rsa2048:rsassa-sha256:null", ldevid: "ecc256:ecdsa-sha256:null" }) {
    const folder = mkdtempSync(join(tmpdir(), "fleetd-renew-"));
    const tpm = await SwTpm.open(folder, join(folder, "ca"));
    await tpm.powerOn([]);
    const env = { ...process.env, TPM2TOOLS_TCTI: tpm.tcti };
    const at = (name: string) => join(folder, name);
    await run("tpm2_readpublic", ["-c", EK, "-o", at("ek.pub")], { env });
    await run("tpm2_readpublic", ["-c", EK, "-f", "der", "-o", at("ek.der")], { env });
    const digest = createHash("sha256")
      .update(readFileSync(at("ek.der")))
      .digest("hex");
    const eks = [{ public: new Uint8Array(readFileSync(at("ek.pub"))), digest: `sha256:${digest}` }];
    return new SwtpmNode(tpm, folder, eks, algorithms);
  }

  /** For tpm2-tools. */
  get tcti(): string {
    return this.#tpm.tcti;
  }

  /** Certificates, PEM, of the CA that made its EK certificates: the issuing one, then its root. */
  endorsementCa(): string {
    const pem = (name: string) => readFileSync(join(this.#folder, "ca", name), "utf8");
    return pem("issuercert.pem") + pem("swtpm-localca-rootca-cert.pem");
  }

  async powerOn(extended: readonly Extend[]): Promise<void> {
    await this.#tpm.powerOn(extended);
    // What was loaded is gone; the SRK is the same again, being derived from the owner's seed.
    this.#loaded = new Map();
    await this.#tool("tpm2_createprimary", "-C", "o", "-G", "ecc", "-g", "sha256", "-c", "srk.ctx", "-a", SRK);
  }

  async create(kind: "lak" | "ldevid"): Promise<NodeKey> {
    const files = ["-u", "new.pub", "-r", "new.prv"];
    await this.#tool("tpm2_create", "-C", "srk.ctx", "-G", this.#algorithms[kind], "-a", ATTRIBUTES[kind], ...files);
    return { id: kind, public: this.#read("new.pub"), private: this.#read("new.prv") };
  }

  async activate(_ek: string, ak: NodeKey, credentialBlob: Uint8Array, secret: Uint8Array): Promise<Uint8Array> {
    this.#write("credential", Buffer.concat([CREDENTIAL_HEAD, credentialBlob, secret]));
    const context = await this.#context(ak);
    await this.#tool("tpm2_activatecredential", "-c", context, "-C", EK, "-i", "credential", "-o", "secret");
    return this.#read("secret");
  }

  async quote(ak: NodeKey, selections: readonly Selected[], qualifyingData: Uint8Array): Promise<Quote> {
    const [selection] = selections;
    if (selection?.bank !== "sha256") throw new Error("the SHA-256 bank alone");
    const files = ["-m", "quote.attest", "-s", "quote.signature", "-o", "quote.pcrs", "-F", "values"];
    const nonce = Buffer.from(qualifyingData).toString("hex");
    const list = `sha256:${selection.pcrs.join(",")}`;
    await this.#tool("tpm2_quote", "-c", await this.#context(ak), "-l", list, "-q", nonce, "-g", "sha256", ...files);
    const values = this.#read("quote.pcrs");
    const of = (i: number) => Buffer.from(values.subarray(i * SHA256_BYTES, (i + 1) * SHA256_BYTES)).toString("hex");
    const sha256 = Object.fromEntries(selection.pcrs.map((pcr, i) => [pcr, of(i)]));
    return { attest: this.#read("quote.attest"), signature: this.#read("quote.signature"), values: { sha256 } };
  }

  async certify(ak: NodeKey, subject: NodeKey): Promise<Statement> {
    const contexts = ["-c", await this.#context(subject), "-C", await this.#context(ak)];
    await this.#tool("tpm2_certify", ...contexts, "-g", "sha256", "-o", "certify.attest", "-s", "certify.signature");
    return { attest: this.#read("certify.attest"), signature: this.#read("certify.signature") };
  }

  async sign(key: NodeKey, message: Uint8Array): Promise<Uint8Array> {
    this.#write("message", message);
    const scheme = this.#algorithms.ldevid.includes("rsapss") ? ["-s", "rsapss"] : [];
    const files = ["-o", "signature", "message"];
    await this.#tool("tpm2_sign", "-c", await this.#context(key), "-g", "sha256", ...scheme, ...files);
    return this.#read("signature");
  }

  async close(): Promise<void> {
    await this.#tpm.close();
    rmSync(this.#folder, { recursive: true });
  }

  async #context(key: NodeKey): Promise<string> {
    const id = Buffer.from(key.public).toString("hex");
    const known = this.#loaded.get(id);
    if (known !== undefined) return known;
    const context = `key-${this.#loaded.size}.ctx`;
    this.#write("key.pub", key.public);
    this.#write("key.prv", key.private);
    await this.#tool("tpm2_load", "-C", "srk.ctx", "-u", "key.pub", "-r", "key.prv", "-c", context);
    this.#loaded.set(id, context);
    return context;
  }

  async #tool(name: string, ...args: readonly string[]): Promise<void> {
    const env = { ...process.env, TPM2TOOLS_TCTI: this.#tpm.tcti };
    await run(name, args, { cwd: this.#folder, env });
    // No resource manager stands before it: a TPM holds three objects.
    await run("tpm2_flushcontext", ["-t"], { env });
  }

  #read(file: string): Uint8Array {
    return new Uint8Array(readFileSync(join(this.#folder, file)));
  }

  #write(file: string, content: Uint8Array): void {
    writeFileSync(join(this.#folder, file), content);
  }
}
