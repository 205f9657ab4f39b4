import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SwTpm } from "../../infra/lab/tpm/swtpm.ts";
import { DIGEST_BYTES, HASH_ALGORITHMS } from "../../shared/formats/tpm2/algorithms.ts";
import type { AkKind, Extend } from "./sets.ts";
import type { Quote, RecordedTpm, Selected, SessionKeys, Statement, TpmKey } from "./tpm.ts";

const run = promisify(execFile);

/** The EKs that swtpm_setup makes: templates L-1 and H-3. */
const EKS = { rsa: "0x81010001", p384: "0x81010016" } as const;
/** Where the session's keys are kept, so that they outlive the power. */
const HANDLES = { rsa: "0x81000101", ecc: "0x81000102", ldevid: "0x81000103" } as const;
type Key = keyof typeof HANDLES;
const BORN = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth";
const TEMPLATES: Readonly<Record<Key, readonly [algorithm: string, attributes: string]>> = {
  rsa: ["rsa2048:rsassa-sha256:null", `${BORN}|restricted|sign`],
  ecc: ["ecc256:ecdsa-sha256:null", `${BORN}|restricted|sign`],
  ldevid: ["ecc256:ecdsa-sha256:null", `${BORN}|sign`],
};
/** Tools that leave an object loaded. */
const TRANSIENT = ["tpm2_createprimary", "tpm2_create", "tpm2_load", "tpm2_evictcontrol"];
/** What tpm2_makecredential writes before the two structures. */
const CREDENTIAL_HEAD = Buffer.from("badcc0de00000001", "hex");

/** A real swtpm by tpm2-tools, with all banks allocated. */
export class SwtpmByTools implements RecordedTpm {
  readonly name = "swtpm";
  readonly eks: RecordedTpm["eks"];
  readonly #tpm: SwTpm;
  readonly #folder: string;
  readonly #areas: Readonly<Record<Key, Uint8Array>>;

  private constructor(tpm: SwTpm, folder: string, eks: RecordedTpm["eks"], areas: Readonly<Record<Key, Uint8Array>>) {
    this.#tpm = tpm;
    this.#folder = folder;
    this.eks = eks;
    this.#areas = areas;
  }

  /** @throws Error with the words of the tool that failed */
  static async open(): Promise<SwtpmByTools> {
    const folder = mkdtempSync(join(tmpdir(), "fleetd-recorded-"));
    let tpm: SwTpm | null = null;
    try {
      tpm = await SwTpm.open(folder, join(folder, "ca"));
      return await SwtpmByTools.#prepared(tpm, folder);
    } catch (error) {
      await tpm?.close();
      rmSync(folder, { recursive: true });
      throw error;
    }
  }

  static async #prepared(tpm: SwTpm, folder: string): Promise<SwtpmByTools> {
    const tool = toolsOf(tpm, folder);
    await tpm.powerOn([]);
    await tool("tpm2_pcrallocate", "sha1:all+sha256:all+sha384:all");
    await tpm.powerOn([]);
    const eks: { public: Uint8Array; digest: string }[] = [];
    for (const handle of Object.values(EKS)) {
      await tool("tpm2_readpublic", "-c", handle, "-o", "ek.pub");
      await tool("tpm2_readpublic", "-c", handle, "-f", "der", "-o", "ek.der");
      const digest = createHash("sha256").update(readFileSync(join(folder, "ek.der")));
      eks.push({ public: readFileSync(join(folder, "ek.pub")), digest: `sha256:${digest.digest("hex")}` });
    }
    const srk = `${BORN}|noda|restricted|decrypt`;
    await tool("tpm2_createprimary", "-C", "o", "-G", "ecc", "-g", "sha256", "-c", "srk.ctx", "-a", srk);
    const areas: Partial<Record<Key, Uint8Array>> = {};
    for (const key of ["rsa", "ecc", "ldevid"] as const) {
      const [algorithm, attributes] = TEMPLATES[key];
      const files = ["-u", "key.pub", "-r", "key.prv"];
      await tool("tpm2_create", "-C", "srk.ctx", "-G", algorithm, "-a", attributes, ...files);
      await tool("tpm2_load", "-C", "srk.ctx", ...files, "-c", "key.ctx");
      await tool("tpm2_evictcontrol", "-C", "o", "-c", "key.ctx", HANDLES[key]);
      areas[key] = readFileSync(join(folder, "key.pub"));
    }
    const { rsa, ecc, ldevid } = areas;
    if (!rsa || !ecc || !ldevid) throw new Error("no keys");
    return new SwtpmByTools(tpm, folder, eks, { rsa, ecc, ldevid });
  }

  keys(kind: AkKind): SessionKeys {
    const key = (id: Key): TpmKey => ({ id, public: this.#areas[id] });
    return { ak: key(kind), otherAk: key(kind === "rsa" ? "ecc" : "rsa"), ldevid: key("ldevid") };
  }

  powerOn(extended: readonly Extend[]): Promise<void> {
    return this.#tpm.powerOn(extended);
  }

  async activate(ekDigest: string, ak: TpmKey, credentialBlob: Uint8Array, secret: Uint8Array): Promise<Uint8Array> {
    const at = this.eks.findIndex((ek) => ek.digest === ekDigest);
    this.#write("credential", Buffer.concat([CREDENTIAL_HEAD, credentialBlob, secret]));
    const command = ["-c", handleOf(ak), "-C", at === 0 ? EKS.rsa : EKS.p384, "-i", "credential", "-o", "secret"];
    if (at !== 0) {
      await this.#tool("tpm2_activatecredential", ...command);
      return this.#read("secret");
    }
    // The RSA EK's authorisation is a policy: PolicySecret of the endorsement hierarchy.
    await this.#tool("tpm2_startauthsession", "--policy-session", "-S", "session.ctx");
    await this.#tool("tpm2_policysecret", "-S", "session.ctx", "-c", "e");
    await this.#tool("tpm2_activatecredential", ...command, "-P", "session:session.ctx");
    await this.#tool("tpm2_flushcontext", "session.ctx");
    return this.#read("secret");
  }

  async quote(ak: TpmKey, selections: readonly Selected[], qualifyingData: Uint8Array): Promise<Quote> {
    const list = selections.map(({ bank, pcrs }) => `${bank}:${pcrs.join(",")}`).join("+");
    const nonce = Buffer.from(qualifyingData).toString("hex");
    const files = ["-m", "quote.attest", "-s", "quote.signature", "-o", "quote.pcrs", "-F", "values"];
    await this.#tool("tpm2_quote", "-c", handleOf(ak), "-l", list, "-q", nonce, "-g", "sha256", ...files);
    const values: Record<string, Record<string, string>> = {};
    let rest = this.#read("quote.pcrs");
    for (const { bank, pcrs } of selections)
      for (const pcr of pcrs) {
        const length = DIGEST_BYTES[HASH_ALGORITHMS[bank]] ?? 0;
        values[bank] = { ...values[bank], [pcr]: rest.subarray(0, length).toString("hex") };
        rest = rest.subarray(length);
      }
    return { attest: this.#read("quote.attest"), signature: this.#read("quote.signature"), values };
  }

  async certify(ak: TpmKey): Promise<Statement> {
    const files = ["-o", "certify.attest", "-s", "certify.signature"];
    await this.#tool("tpm2_certify", "-c", HANDLES.ldevid, "-C", handleOf(ak), "-g", "sha256", ...files);
    return { attest: this.#read("certify.attest"), signature: this.#read("certify.signature") };
  }

  async sign(key: TpmKey, message: Uint8Array): Promise<Uint8Array> {
    this.#write("message", message);
    await this.#tool("tpm2_sign", "-c", handleOf(key), "-g", "sha256", "-o", "message.signature", "message");
    return this.#read("message.signature");
  }

  async close(): Promise<void> {
    await this.#tpm.close();
    rmSync(this.#folder, { recursive: true });
  }

  #tool(name: string, ...args: readonly string[]): Promise<void> {
    return toolsOf(this.#tpm, this.#folder)(name, ...args);
  }

  #read(file: string): Buffer {
    return readFileSync(join(this.#folder, file));
  }

  #write(file: string, content: Uint8Array): void {
    writeFileSync(join(this.#folder, file), content);
  }
}

function toolsOf(tpm: SwTpm, cwd: string) {
  const env = { ...process.env, TPM2TOOLS_TCTI: tpm.tcti };
  return async (name: string, ...args: readonly string[]): Promise<void> => {
    await run(name, args, { cwd, env });
    // No resource manager stands before it: a TPM holds three objects.
    if (TRANSIENT.includes(name)) await run("tpm2_flushcontext", ["-t"], { env });
  };
}

function handleOf({ id }: TpmKey): string {
  if (id !== "rsa" && id !== "ecc" && id !== "ldevid") throw new Error(`no key ${id}`);
  return HANDLES[id];
}
