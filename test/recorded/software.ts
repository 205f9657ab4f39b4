import { createHash, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadedKey, SoftTpm } from "../../infra/lab/tpm/soft-tpm.ts";
import { decode, encode } from "../../shared/formats/codec.ts";
import { HASH_ALGORITHMS, TPM_ALG, TPM_ST } from "../../shared/formats/tpm2/algorithms.ts";
import { TPMS_ATTEST } from "../../shared/formats/tpm2/attest.ts";
import { pcrSelection } from "../../shared/formats/tpm2/digest.ts";
import { TPMT_SIGNATURE } from "../../shared/formats/tpm2/signature.ts";
import type { Extend } from "./sets.ts";
import type { Quote, RecordedTpm, Selected, SessionKeys, TpmKey } from "./tpm.ts";

const CERTIFY_DATA = Uint8Array.of(0x00, 0xff, 0x55, 0xaa);
const SHA1_BYTES = 20;

/** The lab's software TPM, with the SHA-1 bank that it lacks: keys on P-256 alone. */
export class SoftwareTpm implements RecordedTpm {
  readonly name = "the software TPM";
  readonly eks: RecordedTpm["eks"];
  readonly #tpm: SoftTpm;
  readonly #folder: string;
  readonly #keys: Readonly<Record<keyof SessionKeys, LoadedKey>>;
  #sha1 = new Map<number, Uint8Array>();

  private constructor(tpm: SoftTpm, folder: string, digests: readonly string[]) {
    this.#tpm = tpm;
    this.#folder = folder;
    this.eks = tpm.eks().map((area, i) => ({ public: area, digest: digests[i] ?? "" }));
    this.#keys = {
      ak: tpm.createKey("restricted"),
      otherAk: tpm.createKey("restricted"),
      ldevid: tpm.createKey("unrestricted"),
    };
  }

  static async open(): Promise<SoftwareTpm> {
    const folder = mkdtempSync(join(tmpdir(), "fleetd-recorded-"));
    const tpm = new SoftTpm(folder);
    return new SoftwareTpm(tpm, folder, await tpm.ekDigests());
  }

  keys(): SessionKeys {
    const key = (id: keyof SessionKeys): TpmKey => ({ id, public: this.#keys[id].public });
    return { ak: key("ak"), otherAk: key("otherAk"), ldevid: key("ldevid") };
  }

  async powerOn(extended: readonly Extend[]): Promise<void> {
    await this.#tpm.powerOn(extended);
    this.#sha1 = new Map();
    for (const { pcr, digests } of extended)
      if (digests.sha1 !== undefined) {
        const hash = createHash("sha1")
          .update(this.#value({ bank: "sha1", pcrs: [] }, pcr))
          .update(digests.sha1);
        this.#sha1.set(pcr, new Uint8Array(hash.digest()));
      }
  }

  async activate(ekDigest: string, ak: TpmKey, credentialBlob: Uint8Array, secret: Uint8Array): Promise<Uint8Array> {
    const ek = this.eks.findIndex((one) => one.digest === ekDigest);
    return this.#tpm.activate(ek, this.#loaded(ak), credentialBlob, secret);
  }

  async quote(ak: TpmKey, selections: readonly Selected[], qualifyingData: Uint8Array): Promise<Quote> {
    const key = this.#loaded(ak);
    const made = decode(TPMS_ATTEST, this.#tpm.quote(key, "sha256", [0], qualifyingData).attest, "TPMS_ATTEST");
    if (made.type !== TPM_ST.ATTEST_QUOTE) throw new Error("no quote");
    const digest = createHash("sha256");
    const values: Record<string, Record<string, string>> = {};
    for (const selection of selections)
      for (const pcr of selection.pcrs) {
        const value = this.#value(selection, pcr);
        digest.update(value);
        values[selection.bank] = { ...values[selection.bank], [pcr]: Buffer.from(value).toString("hex") };
      }
    const pcrSelect = selections.map(({ bank, pcrs }) => pcrSelection(HASH_ALGORITHMS[bank], pcrs));
    const attest = encode(TPMS_ATTEST, { ...made, attested: { pcrSelect, pcrDigest: digest.digest() } });
    return { attest, signature: signedInside(key, attest), values };
  }

  async certify(ak: TpmKey) {
    return this.#tpm.certify(this.#loaded(ak), this.#keys.ldevid, CERTIFY_DATA);
  }

  async sign(key: TpmKey, message: Uint8Array): Promise<Uint8Array> {
    return this.#tpm.sign(this.#loaded(key), message);
  }

  async close(): Promise<void> {
    rmSync(this.#folder, { recursive: true });
  }

  #value({ bank }: Selected, pcr: number): Uint8Array {
    if (bank === "sha1") return this.#sha1.get(pcr) ?? new Uint8Array(SHA1_BYTES);
    if (bank !== "sha256" && bank !== "sha384") throw new Error(`no bank ${bank}`);
    return this.#tpm.pcr(pcr, bank);
  }

  #loaded({ id }: TpmKey): LoadedKey {
    if (id !== "ak" && id !== "otherAk" && id !== "ldevid") throw new Error(`no key ${id}`);
    return this.#keys[id];
  }
}

// The class signs what it made itself; a quote over several banks it does not make, so it is made here.
function signedInside({ key }: LoadedKey, attest: Uint8Array): Uint8Array {
  const rs = sign("sha256", attest, { key, dsaEncoding: "ieee-p1363" });
  return encode(TPMT_SIGNATURE, {
    sigAlg: TPM_ALG.ECDSA,
    hash: TPM_ALG.SHA256,
    signatureR: rs.subarray(0, 32),
    signatureS: rs.subarray(32),
  });
}
