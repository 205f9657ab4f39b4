import type { HashName } from "../../shared/crypto/hash.ts";
import type { AkKind, Extend } from "./sets.ts";

/** TPMS_ATTEST with its TPMT_SIGNATURE. */
export interface Statement {
  readonly attest: Uint8Array;
  readonly signature: Uint8Array;
}

/** A key in the TPM. */
export interface TpmKey {
  readonly id: string;
  /** TPM2B_PUBLIC. */
  readonly public: Uint8Array;
}

/** One bank's part of a quote. */
export interface Selected {
  readonly bank: HashName;
  readonly pcrs: readonly number[];
}

export interface Quote extends Statement {
  /** bank → index → hex, as the TPM had them */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** The keys of one session: its AK, another AK of the same TPM, and the LDevID key, which is not restricted. */
export interface SessionKeys {
  readonly ak: TpmKey;
  readonly otherAk: TpmKey;
  readonly ldevid: TpmKey;
}

/** A TPM that attests to recorded logs: its keys outlive its power. */
export interface RecordedTpm {
  readonly name: string;
  readonly eks: readonly { readonly public: Uint8Array; readonly digest: string }[];
  /** The keys with an AK of that kind, where the TPM has both. */
  keys(kind: AkKind): SessionKeys;
  powerOn(extended: readonly Extend[]): Promise<void>;
  activate(ekDigest: string, ak: TpmKey, credentialBlob: Uint8Array, secret: Uint8Array): Promise<Uint8Array>;
  quote(ak: TpmKey, selections: readonly Selected[], qualifyingData: Uint8Array): Promise<Quote>;
  /** TPM2_Certify of the LDevID key; the tool sets no qualifyingData. */
  certify(ak: TpmKey): Promise<Statement>;
  /**
   * TPM2_Sign of a message.
   * @throws Error for a restricted key, which signs nothing that begins as the TPM's own statements do
   */
  sign(key: TpmKey, message: Uint8Array): Promise<Uint8Array>;
  close(): Promise<void>;
}
