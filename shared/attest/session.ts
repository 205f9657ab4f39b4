import { digest } from "../crypto/hash.ts";
import { concat, utf8 } from "./hex.ts";
import type { Bank } from "./verdict.ts";

/** What every session token carries; binary fields are base64. */
interface CommonClaims {
  readonly deviceId: number;
  readonly serial: string;
  readonly uuid: string;
  readonly akPublic: string;
  readonly ldevidPublic: string;
  readonly nonce: string;
  readonly bank: Bank;
  readonly select: readonly number[];
}

/** The token between begin and evidence. */
export interface EvidenceClaims extends CommonClaims {
  readonly step: "evidence";
  /** EK digests in challenge order, with the secret that each must give back. */
  readonly eks: readonly {
    readonly digest: string;
    readonly public: string;
    readonly secret: string;
    readonly certificate?: string;
  }[];
  readonly akPrivate?: string;
  readonly ldevidPrivate?: string;
}

/** The token between evidence and confirm. */
export interface ConfirmClaims extends CommonClaims {
  readonly step: "confirm";
  readonly eks: readonly { readonly digest: string; readonly public: string }[];
  readonly akPrivate?: string;
  readonly ldevidPrivate?: string;
  /** PEM texts, leaf first; null for a device that gets none. */
  readonly ldevid: string | null;
  readonly lak: string | null;
  readonly mac: string;
  readonly lldp: string | null;
  readonly confirm: string;
}

/** The token between the two steps of a renewal. */
export interface RenewClaims {
  readonly step: "renew";
  readonly deviceId: number;
  readonly nonce: string;
  readonly bank: Bank;
  readonly select: readonly number[];
  /** The certificates that were shown, DER. */
  readonly ldevidCertificate: string;
  readonly lakCertificate: string;
  /** Serial number of the LDevID that the record named then: a renewal in between ends the session. */
  readonly recordedLdevid: string;
}

export type SessionClaims = EvidenceClaims | ConfirmClaims | RenewClaims;

/** The qualifyingData that an enrolment's quote must carry. @see spec/10-protocol.md section 2 */
export function attestQualifyingData(nonce: Uint8Array, report: Uint8Array): Uint8Array {
  return digest("sha256", utf8("fleetd attest v1"), nonce, digest("sha256", report));
}

/** The qualifyingData that a renewal's quote must carry. @see spec/10-protocol.md section 5 */
export function renewQualifyingData(nonce: Uint8Array, report: Uint8Array, newLdevidPublic: Uint8Array): Uint8Array {
  return digest("sha256", renewFields("fleetd renew v1", nonce, report, newLdevidPublic));
}

/** The bytes that the old LDevID key signs at a renewal, by its own scheme. @see spec/10-protocol.md section 5 */
export function renewSignMessage(nonce: Uint8Array, report: Uint8Array, newLdevidPublic: Uint8Array): Uint8Array {
  return renewFields("fleetd renew-sign v1", nonce, report, newLdevidPublic);
}

/** The bytes that the LDevID key signs to confirm; a null certificate counts as no bytes. @see spec/10-protocol.md section 3 */
export function confirmMessage(
  confirm: Uint8Array,
  ldevidLeaf: Uint8Array | null,
  lakLeaf: Uint8Array | null,
): Uint8Array {
  const none = new Uint8Array(0);
  return concat(
    utf8("fleetd confirm v1"),
    confirm,
    digest("sha256", ldevidLeaf ?? none),
    digest("sha256", lakLeaf ?? none),
  );
}

function renewFields(label: string, nonce: Uint8Array, report: Uint8Array, newLdevidPublic: Uint8Array): Uint8Array {
  return concat(utf8(label), nonce, digest("sha256", report), digest("sha256", newLdevidPublic));
}
