import { judgeBoot } from "../../../shared/attest/boot.ts";
import { verifyBundle } from "../../../shared/attest/bundle.ts";
import { describeLog } from "../../../shared/attest/describe-log.ts";
import { ekChain, readEkRoots } from "../../../shared/attest/ek-chain.ts";
import { toHex } from "../../../shared/attest/hex.ts";
import { judgeAk, judgeEk, judgeLdevid, nameOf, readEitherPublic } from "../../../shared/attest/keys.ts";
import { type BootPolicyProfile, loadProfile } from "../../../shared/attest/profile.ts";
import { replay } from "../../../shared/attest/replay.ts";
import { readReport } from "../../../shared/attest/report.ts";
import { decode, encode, type Layout } from "../../../shared/formats/codec.ts";
import { readDer } from "../../../shared/formats/der.ts";
import { FormatError } from "../../../shared/formats/error.ts";
import { certificatesOf, readSignatureLists } from "../../../shared/formats/eventlog/efi-signature-list.ts";
import { actionText } from "../../../shared/formats/eventlog/events/efi-action.ts";
import { UEFI_VARIABLE_DATA } from "../../../shared/formats/eventlog/events/efi-variable.ts";
import { EV_SEPARATOR_DATA } from "../../../shared/formats/eventlog/events/separator.ts";
import { STARTUP_LOCALITY } from "../../../shared/formats/eventlog/events/startup-locality.ts";
import { EventLogError, readEventLog } from "../../../shared/formats/eventlog/log.ts";
import { readSbatLevel } from "../../../shared/formats/eventlog/sbat.ts";
import { readLldpFrame } from "../../../shared/formats/lldp/frame.ts";
import { TPMS_ATTEST } from "../../../shared/formats/tpm2/attest.ts";
import { TPM2B_ENCRYPTED_SECRET, TPM2B_ID_OBJECT } from "../../../shared/formats/tpm2/credential.ts";
import { TPM2B_PUBLIC, TPMT_PUBLIC } from "../../../shared/formats/tpm2/public.ts";
import { TPMT_SIGNATURE } from "../../../shared/formats/tpm2/signature.ts";
import { readCertificationRequest } from "../../../shared/formats/x509/certification-request.ts";
import { readEkCertificate } from "../../../shared/formats/x509/ek-certificate.ts";
import { nameText } from "../../../shared/formats/x509/name.ts";
import { certificatePem, readCertificatePems } from "../../../shared/formats/x509/pem.ts";
import { decodeSpki, encodeSpki } from "../../../shared/formats/x509/spki.ts";
import { readTime } from "../../../shared/formats/x509/time.ts";
import { vectorText } from "../../vectors/read.ts";
import { note } from "./note.ts";
import { writtenLog } from "./written-log.ts";

/** Takes any bytes; throws only where a promise is broken. */
export type Target = (bytes: Uint8Array) => void;

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

function must(holds: boolean, promise: string): void {
  if (!holds) throw new Error(`broken promise: ${promise}`);
}

/** What is read, or null where it was refused as it may be. */
function refusedOr<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FormatError || error instanceof EventLogError)) throw error;
    note(
      error instanceof FormatError ? `${error.structure} ${error.code}` : error.message.replace(/0x[0-9a-f]+|\d+/g, ""),
    );
    return null;
  }
}

/** Reads by each layout; what one accepts it writes back to the same bytes. */
function codecs(...layouts: readonly Layout<unknown>[]): Target {
  return (bytes) => {
    for (const [i, layout] of layouts.entries())
      refusedOr(() => {
        const value = decode(layout, bytes, `layout ${i}`);
        note(`accepted by layout ${i}`);
        must(toHex(encode(layout, value)) === toHex(bytes), "written as read");
      });
  };
}

/** The same answer twice, and no other way out. */
function stable(read: (bytes: Uint8Array) => unknown): Target {
  return (bytes) => {
    const twice = [0, 1].map(() =>
      JSON.stringify(
        refusedOr(() => read(bytes)),
        withBigInts,
      ),
    );
    must(twice[0] === twice[1], "the same answer twice");
  };
}

const withBigInts = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

const lab = vectorText("vm/certs/lab-db.pem");

function profileOf(change: Readonly<Record<string, unknown>>): BootPolicyProfile {
  const loaded = loadProfile({ name: "fuzz", bank: "sha256", authorities: [{ pem: lab, for: ["hookos"] }], ...change });
  if (!loaded.ok) throw new Error(loaded.problem);
  return loaded.profile;
}

const both = profileOf({
  authorities: [{ pem: lab, for: ["hookos", "os"] }],
  hookosMarker: "hookos",
  osMarker: "os",
  beforeSeparator: [{ pem: lab }],
  allowedActions: ["UEFI Debug Mode"],
});
const plain = profileOf({});

/** Judges a log whose PCRs are what it says they are: as a TPM would hold them that was extended so. */
function boot(bytes: Uint8Array): unknown {
  const log = refusedOr(() => readEventLog(bytes));
  const zeros = Array.from({ length: 24 }, (_, pcr) => [pcr, "00".repeat(32)] as const);
  const held =
    log === null ? [] : Array.from(replay(log, "sha256").pcrs, ([pcr, value]) => [pcr, toHex(value)] as const);
  return [both, plain, null].map((profile) =>
    judgeBoot({
      eventLog: bytes,
      bank: "sha256",
      select: [0, 1, 2, 3, 4, 5, 6, 7, 9],
      pcrs: Object.fromEntries([...zeros, ...held]),
      profile,
      withoutProfile: true,
      purpose: "intake",
      secureBoot: "required",
      commandLine: "quiet hookos",
      attest: null,
    }),
  );
}

const roots = readEkRoots(readCertificatePems(vectorText("ekcerts/ca/tpm-roots.pem")).slice(0, 20));

function ekCertificate(bytes: Uint8Array): unknown {
  const read = readEkCertificate(bytes);
  must(bytes.length === read.headerBytes + read.certificate.raw.length + read.paddingBytes, "every byte has its place");
  const chain = ekChain(read, roots, 1_700_000_000_000);
  return [read.certificate.subjectText, read.tpm, chain];
}

function spki(bytes: Uint8Array): unknown {
  const key = decodeSpki(bytes);
  if (key === null || (key.type === "ec" && key.x.length === 0)) return null;
  const again = decodeSpki(encodeSpki(key));
  must(JSON.stringify(again) === JSON.stringify(key), "a key written and read is the same key");
  return key;
}

function area(bytes: Uint8Array): unknown {
  const read = readEitherPublic(bytes);
  const name = refusedOr(() => (read.nameAlg < 0x0e && read.nameAlg > 0x03 ? nameOf(read) : null));
  return [judgeAk(read), judgeLdevid(read), judgeEk(read), name && toHex(name)];
}

/** Verifies a bundle of any JSON. */
function bundle(bytes: Uint8Array): unknown {
  const json = jsonOf(bytes);
  const result = verifyBundle(json, { profile: plain });
  must(result.verdict !== "accepted" || result.codes.length === 0, "accepted without a code");
  must(result.verdict === "accepted" || result.codes.length > 0, "refused with a code");
  return result;
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/** Every reader of bytes from outside, by the name that the corpus has. */
export const TARGETS: Readonly<Record<string, Target>> = {
  tpm2: codecs(TPMS_ATTEST, TPMT_PUBLIC, TPM2B_PUBLIC, TPMT_SIGNATURE, TPM2B_ID_OBJECT, TPM2B_ENCRYPTED_SECRET),
  "public-area": stable(area),
  events: (bytes) => {
    codecs(UEFI_VARIABLE_DATA, EV_SEPARATOR_DATA, STARTUP_LOCALITY)(bytes);
    must(actionText(bytes).length <= 256, "an action's text is bounded");
  },
  "signature-lists": stable((bytes) => certificatesOf(readSignatureLists(bytes)).map(toHex)),
  sbat: stable(readSbatLevel),
  "event-log": (bytes) => {
    stable(describeLog)(bytes);
    const log = refusedOr(() => readEventLog(bytes));
    must(log === null || toHex(writtenLog(log)) === toHex(bytes), "a log written as it was read");
  },
  boot: stable(boot),
  "ek-certificate": stable(ekCertificate),
  csr: stable(readCertificationRequest),
  spki: stable(spki),
  names: stable((bytes) => [refusedOr(() => readTime(readDer(bytes, "time"), "time")), nameText(bytes)]),
  pem: stable((bytes) => readCertificatePems(latin1(bytes)).map((der) => [toHex(der), certificatePem(der)])),
  lldp: stable(readLldpFrame),
  report: stable(readReport),
  bundle: stable(bundle),
  profile: stable((bytes) => loadProfile(jsonOf(bytes))),
};
