import { createHash } from "node:crypto";
import { encode } from "../../shared/formats/codec.ts";
import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { UEFI_VARIABLE_DATA } from "../../shared/formats/eventlog/events/efi-variable.ts";
import { readEventLog, tcgPcrEvent2 } from "../../shared/formats/eventlog/log.ts";
import { TPMS_ATTEST } from "../../shared/formats/tpm2/attest.ts";
import { pcrSelection } from "../../shared/formats/tpm2/digest.ts";
import { ecKey, rsaKey, type SoftKey } from "../shared/attest/soft-key.ts";
import { vector } from "../vectors/read.ts";

/** One set of evidence to verify: a real machine's log, lengthened, and a quote that fits it. */
export interface Evidence {
  readonly name: string;
  readonly key: SoftKey;
  readonly events: number;
  readonly purpose: "intake" | "renewal";
  readonly attest: Uint8Array;
  readonly signature: Uint8Array;
  readonly extraData: Uint8Array;
  readonly select: readonly number[];
  /** Index → hex, of the SHA-256 bank. */
  readonly pcrs: Readonly<Record<string, string>>;
  readonly eventLog: Uint8Array;
}

const SELECT = [0, 1, 2, 3, 4, 5, 6, 7];
const SHA1 = 0x0004;
const SHA256 = 0x000b;

const hash = (name: string, ...parts: readonly Uint8Array[]): Uint8Array => {
  const running = createHash(name);
  for (const part of parts) running.update(part);
  return new Uint8Array(running.digest());
};

/** A log of so many events: a virtual machine's own, then boot variables in PCR 1, as firmware with many entries logs them. */
function lengthened(base: Uint8Array, events: number): Uint8Array {
  const layout = tcgPcrEvent2([SHA1, SHA256]);
  const parts: Uint8Array[] = [base];
  for (let i = readEventLog(base).records.length; i < events; i++) {
    const event = encode(UEFI_VARIABLE_DATA, {
      vendorGuid: new Uint8Array(16),
      unicodeName: `Boot${i.toString(16).padStart(4, "0")}`,
      variableData: new Uint8Array(90).fill(i),
    });
    const digests = [
      { algorithmId: SHA1, digest: hash("sha1", event) },
      { algorithmId: SHA256, digest: hash("sha256", event) },
    ];
    parts.push(encode(layout, { pcrIndex: 1, eventType: EV.EV_EFI_VARIABLE_BOOT, digests, event }));
  }
  return new Uint8Array(Buffer.concat(parts));
}

function replayed(log: Uint8Array): Record<string, string> {
  const values: Uint8Array[] = Array.from({ length: 24 }, () => new Uint8Array(32));
  for (const record of readEventLog(log).records) {
    const digest = record.digest(SHA256);
    if (record.untrustedType === EV.EV_NO_ACTION || !digest) continue;
    values[record.pcrIndex] = hash("sha256", values[record.pcrIndex] ?? new Uint8Array(32), digest);
  }
  return Object.fromEntries(SELECT.map((pcr) => [String(pcr), Buffer.from(values[pcr] ?? []).toString("hex")]));
}

function quoted(name: string, key: SoftKey, events: number): Evidence {
  const hookos = events <= 40;
  const eventLog = lengthened(vector(`vm/${hookos ? "lab-sb-on" : "debian-ms"}/eventlog.bin`), events);
  const pcrs = replayed(eventLog);
  const extraData = new Uint8Array(32).fill(7);
  const attest = encode(TPMS_ATTEST, {
    magic: 0xff544347,
    type: 0x8018,
    qualifiedSigner: Uint8Array.from([0x00, 0x0b, ...new Uint8Array(32)]),
    extraData,
    clockInfo: { clock: 1n, resetCount: 2, restartCount: 3, safe: 1 },
    firmwareVersion: 4n,
    attested: {
      pcrSelect: [pcrSelection(SHA256, SELECT)],
      pcrDigest: hash("sha256", ...SELECT.map((pcr) => new Uint8Array(Buffer.from(pcrs[pcr] ?? "", "hex")))),
    },
  });
  const signature = key.sign(attest);
  const purpose = hookos ? "intake" : "renewal";
  return { name, key, events, purpose, attest, signature, extraData, select: SELECT, pcrs, eventLog };
}

/** RSA and ECC, each with a short, a usual and a long log. */
export function evidenceSets(): Evidence[] {
  const keys = { "RSA-2048": rsaKey("rsassa", "sha256"), "ECC P-256": ecKey("P-256", "sha256") };
  return Object.entries(keys).flatMap(([name, key]) => [40, 150, 1000].map((events) => quoted(name, key, events)));
}
