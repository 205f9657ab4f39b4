import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encode } from "../../../shared/formats/codec.ts";
import { HASH_ALGORITHMS, TPM_ALG, TPM_GENERATED_VALUE, TPM_ST } from "../../../shared/formats/tpm2/algorithms.ts";
import { TPMS_ATTEST, type TpmsAttest } from "../../../shared/formats/tpm2/attest.ts";
import { TPM2B_PRIVATE } from "../../../shared/formats/tpm2/credential.ts";
import { pcrSelection } from "../../../shared/formats/tpm2/digest.ts";
import { TPM2B_PUBLIC, TPMT_PUBLIC, type TpmtPublic } from "../../../shared/formats/tpm2/public.ts";
import { TPMT_SIGNATURE } from "../../../shared/formats/tpm2/signature.ts";
import type { LabTpm, PcrExtend } from "./lab-tpm.ts";
import { openCredential, publicHalf } from "./soft-crypto.ts";
import { ekArea, nameOf, signingArea } from "./soft-templates.ts";

/** A key below the storage root, as TPM2_Create gives it. */
export interface CreatedKey {
  /** TPM2B_PUBLIC. */
  readonly public: Uint8Array;
  /** TPM2B_PRIVATE, wrapped to this TPM. */
  readonly private: Uint8Array;
}

export interface LoadedKey extends CreatedKey {
  readonly area: TpmtPublic;
  readonly key: KeyObject;
}

export interface Statement {
  /** TPMS_ATTEST. */
  readonly attest: Uint8Array;
  /** TPMT_SIGNATURE. */
  readonly signature: Uint8Array;
}

const BANK_BYTES = { sha256: 32, sha384: 48 } as const;
type Bank = keyof typeof BANK_BYTES;
const BANKS: readonly Bank[] = ["sha256", "sha384"];
const PCRS = 24;
const FIRMWARE_VERSION = 0x0001_0000_0000_0000n;
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface State {
  readonly ekRsa: string;
  readonly ekEcc: string;
  readonly storageKey: string;
  readonly resetCount: number;
}

/**
 * A TPM in this process: real keys and signatures, nothing to keep them from a reader of its folder. It shares with
 * fleetd the byte layouts alone, so that neither side's mistake hides the other's.
 */
export class SoftTpm implements LabTpm {
  readonly kind = "software";
  readonly #file: string;
  readonly #eks: readonly KeyObject[];
  #state: State;
  #pcrs: Map<string, Uint8Array> | null = null;
  #startedAtMs = 0;

  /** Opens the TPM of a folder; a new one makes its EKs. */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#file = join(folder, "soft-tpm.json");
    this.#state = existsSync(this.#file) ? (JSON.parse(readFileSync(this.#file, "utf8")) as State) : newState();
    this.#save();
    this.#eks = [createPrivateKey(this.#state.ekRsa), createPrivateKey(this.#state.ekEcc)];
  }

  /** TPM2B_PUBLIC of each EK: RSA-2048 (L-1) and P-256 (L-2). */
  eks(): readonly Uint8Array[] {
    return this.#eks.map((ek) => encode(TPM2B_PUBLIC, ekArea(ek)));
  }

  async ekDigests(): Promise<readonly string[]> {
    return this.#eks.map((ek) => {
      const spki = publicHalf(ek).export({ type: "spki", format: "der" });
      return `sha256:${createHash("sha256").update(spki).digest("hex")}`;
    });
  }

  async powerOn(extended: readonly PcrExtend[]): Promise<void> {
    this.#state = { ...this.#state, resetCount: this.#state.resetCount + 1 };
    this.#save();
    this.#startedAtMs = Date.now();
    this.#pcrs = new Map();
    for (const { pcr, digests } of extended)
      for (const bank of BANKS) {
        const digest = digests[bank];
        if (digest !== undefined) this.extend(pcr, bank, digest);
      }
  }

  async powerOff(): Promise<void> {
    this.#pcrs = null;
  }

  extend(pcr: number, bank: Bank, digest: Uint8Array): void {
    const value = createHash(bank).update(this.pcr(pcr, bank)).update(digest).digest();
    this.#powered().set(`${bank}:${pcr}`, new Uint8Array(value));
  }

  pcr(pcr: number, bank: Bank): Uint8Array {
    if (!Number.isInteger(pcr) || pcr < 0 || pcr >= PCRS) throw new RangeError(`PCR ${pcr}`);
    return this.#powered().get(`${bank}:${pcr}`) ?? new Uint8Array(BANK_BYTES[bank]);
  }

  /** A P-256 signing key with ECDSA and SHA-256; a restricted one signs only what the TPM itself made. */
  createKey(kind: "restricted" | "unrestricted"): LoadedKey {
    const { privateKey: key } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const area = signingArea(key, kind === "restricted");
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#storageKey(), iv).setAAD(encode(TPMT_PUBLIC, area));
    const sealed = [cipher.update(key.export({ type: "pkcs8", format: "der" })), cipher.final()];
    const blob = Buffer.concat([iv, ...sealed, cipher.getAuthTag()]);
    return { area, key, public: encode(TPM2B_PUBLIC, area), private: encode(TPM2B_PRIVATE, blob) };
  }

  /**
   * TPM2_Load of a key that this TPM made.
   * @throws Error for another TPM's
   */
  load(area: TpmtPublic, blob: Uint8Array): LoadedKey {
    const body = blob.subarray(2);
    const decipher = createDecipheriv("aes-256-gcm", this.#storageKey(), body.subarray(0, IV_BYTES));
    decipher.setAAD(encode(TPMT_PUBLIC, area)).setAuthTag(body.subarray(-TAG_BYTES));
    const opened = [decipher.update(body.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
    const key = createPrivateKey({ key: Buffer.concat(opened), type: "pkcs8", format: "der" });
    return { area, key, public: encode(TPM2B_PUBLIC, area), private: blob };
  }

  /** TPM2_Quote; `pcrs` are the values by index, which the caller sends beside it. */
  quote(
    ak: LoadedKey,
    bank: Bank,
    select: readonly number[],
    qualifyingData: Uint8Array,
  ): Statement & { readonly pcrs: Readonly<Record<string, string>> } {
    const ascending = [...select].sort((a, b) => a - b);
    const values = ascending.map((pcr) => [pcr, this.pcr(pcr, bank)] as const);
    const digest = createHash("sha256");
    for (const [, value] of values) digest.update(value);
    const attested = {
      pcrSelect: [pcrSelection(HASH_ALGORITHMS[bank], ascending)],
      pcrDigest: new Uint8Array(digest.digest()),
    };
    const made = this.#attest(ak, { type: TPM_ST.ATTEST_QUOTE, ...this.#head(ak, qualifyingData), attested });
    return { ...made, pcrs: Object.fromEntries(values.map(([pcr, v]) => [pcr, Buffer.from(v).toString("hex")])) };
  }

  /** TPM2_Certify of a key by the AK. */
  certify(ak: LoadedKey, subject: LoadedKey, qualifyingData: Uint8Array): Statement {
    const name = nameOf(subject.area);
    const attested = { name, qualifiedName: qualifiedName(name) };
    return this.#attest(ak, { type: TPM_ST.ATTEST_CERTIFY, ...this.#head(ak, qualifyingData), attested });
  }

  /**
   * TPM2_ActivateCredential with one of the EKs, by its index in `eks`.
   * @throws Error where it is for another TPM or another AK
   */
  activate(ek: number, ak: LoadedKey, credentialBlob: Uint8Array, secret: Uint8Array): Uint8Array {
    this.#powered();
    const key = this.#eks[ek];
    if (key === undefined) throw new RangeError(`EK ${ek}`);
    return openCredential(key, nameOf(ak.area), credentialBlob, secret);
  }

  /**
   * TPM2_Sign of a message: its TPMT_SIGNATURE.
   * @throws Error for a restricted key, which signs nothing that came from outside
   */
  sign(key: LoadedKey, message: Uint8Array): Uint8Array {
    if (key.area.objectAttributes.restricted) throw new Error("TPM_RC_TICKET: a restricted key");
    return this.#signature(key, message);
  }

  #attest(ak: LoadedKey, statement: TpmsAttest): Statement {
    const attest = encode(TPMS_ATTEST, statement);
    return { attest, signature: this.#signature(ak, attest) };
  }

  #head(ak: LoadedKey, extraData: Uint8Array) {
    return {
      magic: TPM_GENERATED_VALUE,
      qualifiedSigner: qualifiedName(nameOf(ak.area)),
      extraData,
      clockInfo: {
        clock: BigInt(Date.now() - this.#startedAtMs),
        resetCount: this.#state.resetCount,
        restartCount: 0,
        safe: 1,
      },
      firmwareVersion: FIRMWARE_VERSION,
    } as const;
  }

  #signature(key: LoadedKey, message: Uint8Array): Uint8Array {
    this.#powered();
    const rs = sign("sha256", message, { key: key.key, dsaEncoding: "ieee-p1363" });
    return encode(TPMT_SIGNATURE, {
      sigAlg: TPM_ALG.ECDSA,
      hash: TPM_ALG.SHA256,
      signatureR: rs.subarray(0, 32),
      signatureS: rs.subarray(32),
    });
  }

  #powered(): Map<string, Uint8Array> {
    if (this.#pcrs === null) throw new Error("the TPM has no power");
    return this.#pcrs;
  }

  #storageKey(): Buffer {
    return Buffer.from(this.#state.storageKey, "base64");
  }

  #save(): void {
    writeFileSync(this.#file, JSON.stringify(this.#state), { mode: 0o600 });
  }
}

function newState(): State {
  const pem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString();
  return {
    ekRsa: pem(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey),
    ekEcc: pem(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey),
    storageKey: randomBytes(32).toString("base64"),
    resetCount: 0,
  };
}

/** A name below the storage root. @see TPM 2.0 Library Part 1, 26.5 */
function qualifiedName(name: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(0x00, 0x0b), createHash("sha256").update("lab storage root").update(name).digest()]);
}
