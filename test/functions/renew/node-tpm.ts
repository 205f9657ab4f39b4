import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadedKey, SoftTpm } from "../../../infra/lab/tpm/soft-tpm.ts";
import { decode } from "../../../shared/formats/codec.ts";
import { TPM2B_PUBLIC } from "../../../shared/formats/tpm2/public.ts";
import type { Extend } from "../../recorded/sets.ts";
import type { Quote, RecordedTpm, Selected, Statement, TpmKey } from "../../recorded/tpm.ts";

/** A key below the SRK, as a node keeps it on its disk. */
export interface NodeKey extends TpmKey {
  /** TPM2B_PRIVATE. */
  readonly private: Uint8Array;
}

/** A TPM whose keys are blobs: after each boot they are loaded again below the SRK. */
export interface NodeTpm extends Omit<RecordedTpm, "keys" | "activate" | "quote" | "certify" | "sign"> {
  create(kind: "lak" | "ldevid"): Promise<NodeKey>;
  activate(ekDigest: string, ak: NodeKey, credentialBlob: Uint8Array, secret: Uint8Array): Promise<Uint8Array>;
  quote(ak: NodeKey, selections: readonly Selected[], qualifyingData: Uint8Array): Promise<Quote>;
  certify(ak: NodeKey, subject: NodeKey): Promise<Statement>;
  sign(key: NodeKey, message: Uint8Array): Promise<Uint8Array>;
}

/** The NodeTpm as an enrolment's client takes it: with one LDevID key, and keys that are known by their blobs. */
export function enrolling(tpm: NodeTpm, ldevid: NodeKey): RecordedTpm {
  const own = (key: TpmKey): NodeKey => {
    if (!("private" in key)) throw new Error("a key without its blob");
    return key as NodeKey;
  };
  return {
    name: tpm.name,
    eks: tpm.eks,
    keys: () => {
      throw new Error("keys are given");
    },
    powerOn: (extended) => tpm.powerOn(extended),
    activate: (ek, ak, blob, secret) => tpm.activate(ek, own(ak), blob, secret),
    quote: (ak, selections, data) => tpm.quote(own(ak), selections, data),
    certify: (ak) => tpm.certify(own(ak), ldevid),
    sign: (key, message) => tpm.sign(own(key), message),
    close: () => tpm.close(),
  };
}

/** The lab's software TPM. */
export class SoftwareNodeTpm implements NodeTpm {
  readonly name = "the software TPM";
  readonly eks: RecordedTpm["eks"];
  readonly #tpm: SoftTpm;
  readonly #folder: string;

  private constructor(tpm: SoftTpm, folder: string, digests: readonly string[]) {
    this.#tpm = tpm;
    this.#folder = folder;
    this.eks = tpm.eks().map((area, i) => ({ public: area, digest: digests[i] ?? "" }));
  }

  static async open(): Promise<SoftwareNodeTpm> {
    const folder = mkdtempSync(join(tmpdir(), "fleetd-renew-"));
    const tpm = new SoftTpm(folder);
    return new SoftwareNodeTpm(tpm, folder, await tpm.ekDigests());
  }

  async create(kind: "lak" | "ldevid"): Promise<NodeKey> {
    const made = this.#tpm.createKey(kind === "lak" ? "restricted" : "unrestricted");
    return { id: kind, public: made.public, private: made.private };
  }

  powerOn(extended: readonly Extend[]): Promise<void> {
    return this.#tpm.powerOn(extended);
  }

  async activate(ekDigest: string, ak: NodeKey, blob: Uint8Array, secret: Uint8Array): Promise<Uint8Array> {
    const ek = this.eks.findIndex((one) => one.digest === ekDigest);
    return this.#tpm.activate(ek, this.#load(ak), blob, secret);
  }

  async quote(ak: NodeKey, selections: readonly Selected[], qualifyingData: Uint8Array): Promise<Quote> {
    const [selection] = selections;
    const bank = selection?.bank;
    if (selection === undefined || (bank !== "sha256" && bank !== "sha384")) throw new Error("one bank of this TPM");
    const { pcrs, ...statement } = this.#tpm.quote(this.#load(ak), bank, selection.pcrs, qualifyingData);
    return { ...statement, values: { [bank]: pcrs } };
  }

  async certify(ak: NodeKey, subject: NodeKey): Promise<Statement> {
    return this.#tpm.certify(this.#load(ak), this.#load(subject), Uint8Array.of(0, 1));
  }

  async sign(key: NodeKey, message: Uint8Array): Promise<Uint8Array> {
    return this.#tpm.sign(this.#load(key), message);
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true });
  }

  #load({ public: area, private: blob }: NodeKey): LoadedKey {
    return this.#tpm.load(decode(TPM2B_PUBLIC, area, "TPM2B_PUBLIC"), blob);
  }
}
