import type { Answer, Asked, Change, Evidence } from "./session.ts";
import { recordedLog } from "./sets.ts";

/** A recorded file's change, made in a live session, and the answer that it must get. */
export interface Row {
  /** The set whose session it is. */
  readonly of: string;
  /** The recorded log that the TPM was extended with, where it is not the set's. */
  readonly extended?: string;
  /** The set whose authorities the profile lists, where it is not the same. */
  readonly accepted?: string;
  /** What the class demands, where it is not what the set's log says. */
  readonly secureBoot?: "required";
  readonly change: Change;
  readonly answer: readonly [Answer["step"], status: number, code: string | null, because: RegExp];
}

type Attest = (attest: Uint8Array) => Uint8Array;

/** Another TPMS_ATTEST on the wire, below the same signature. */
const onTheWire = (attest: Attest): Change => ({
  evidence: ({ quote, ...rest }) => ({ ...rest, quote: { ...quote, attest: attest(quote.attest) } }),
});

/** Another log on the wire: the recorded one, bit for bit. */
const logOf = (file: string): Change => ({ evidence: (honest) => ({ ...honest, eventLog: recordedLog(file) }) });

/** Another statement out of the TPM. */
const fromTheTpm = (quote: (honest: Evidence, asked: Asked) => Promise<Evidence["quote"]>): Change => ({
  evidence: async (honest, asked) => ({ ...honest, quote: await quote(honest, asked) }),
});

const flipped = (bytes: Uint8Array, at: number) =>
  bytes.map((octet, i) => (i === (at < 0 ? bytes.length + at : at) ? octet ^ 1 : octet));

const RHEL_RSA = "ok-rhel8-gce-rsa.json";
const RHEL_ECC = "ok-rhel8-gce-ecc.json";
const LATE = "bad-log-late-secureboot-event-rsa.json";

const quoteRefused = (because: RegExp) => ["evidence", 403, "quote-invalid", because] as const;
const changedLog = (file: string, code: string, because: RegExp): Row => ({
  of: RHEL_RSA,
  change: logOf(file),
  answer: ["evidence", 403, code, because],
});

/** Every `bad-*` file, and the one `ok-*` file whose quote is not what fleetd asks for. */
export const CHANGES: Readonly<Record<string, Row>> = {
  "bad-bank-sha1-rsa.json": {
    of: RHEL_RSA,
    change: fromTheTpm((_, { tpm, keys, select, qualifyingData }) =>
      tpm.quote(keys.ak, [{ bank: "sha1", pcrs: select }], qualifyingData),
    ),
    answer: quoteRefused(/^quote-selection: sha1:0,1,2,3,4,5,6,7$/),
  },
  "bad-certify-as-quote-rsa.json": {
    of: RHEL_RSA,
    change: fromTheTpm((_, { tpm, keys }) => tpm.certify(keys.ak)),
    answer: quoteRefused(/^quote-type: 0x8017/),
  },
  // Only selected PCRs count: what is left without the value is a good quote.
  "bad-extra-unquoted-pcr10-rsa.json": {
    of: RHEL_RSA,
    change: { evidence: (honest) => ({ ...honest, pcrs: { ...honest.pcrs, "10": "ab".repeat(32) } }) },
    answer: ["confirm", 200, null, /^$/],
  },
  "bad-forged-by-unrestricted-key-rsa.json": {
    of: RHEL_RSA,
    change: { presented: (keys) => keys.ldevid },
    answer: ["begin", 403, "ak-attributes", /attributes 0x00040072/],
  },
  "bad-log-all-seps-retyped.json": changedLog(
    "bad-log-all-seps-retyped.json",
    "secure-boot-mismatch",
    /0 separators in PCR 7/,
  ),
  "bad-log-cut-mid-event.json": changedLog(
    "bad-log-cut-mid-event.json",
    "event-log-malformed",
    /record 82 at byte 33872/,
  ),
  "bad-log-last-two-swapped.json": changedLog("bad-log-last-two-swapped.json", "event-log-mismatch", /^replay: PCR 5 /),
  [LATE]: {
    of: "ok-ubuntu2404-nosb-rsa.json",
    extended: LATE,
    secureBoot: "required",
    change: logOf(LATE),
    answer: ["evidence", 403, "secure-boot-mismatch", /variable SecureBoot twice/],
  },
  "bad-log-sep7-retyped.json": changedLog("bad-log-sep7-retyped.json", "secure-boot-mismatch", /0 separators in PCR 7/),
  "bad-log-trailing-zero-page.json": changedLog(
    "bad-log-trailing-zero-page.json",
    "event-log-malformed",
    /record 83 at byte 34034/,
  ),
  "bad-log-truncated-last-event.json": changedLog(
    "bad-log-truncated-last-event.json",
    "event-log-mismatch",
    /^replay: PCR 5 /,
  ),
  // A TPM signs nothing but its own magic, so the change is behind the signature.
  "bad-magic-rsa.json": {
    of: RHEL_RSA,
    change: onTheWire((attest) => flipped(attest, 0)),
    answer: quoteRefused(/^quote-magic: 0xfe544347/),
  },
  "bad-nonce-rsa.json": {
    of: RHEL_RSA,
    change: fromTheTpm((_, { tpm, keys, bank, select }) =>
      tpm.quote(keys.ak, [{ bank, pcrs: select }], new Uint8Array(32).fill(0x35)),
    ),
    answer: quoteRefused(/^quote-nonce: 3535/),
  },
  "bad-other-ak-rsa.json": {
    of: RHEL_RSA,
    change: fromTheTpm((_, { tpm, keys, bank, select, qualifyingData }) =>
      tpm.quote(keys.otherAk, [{ bank, pcrs: select }], qualifyingData),
    ),
    answer: quoteRefused(/^quote-signature/),
  },
  "bad-partial-selection-rsa.json": {
    of: RHEL_RSA,
    change: fromTheTpm((_, { tpm, keys, bank, qualifyingData }) =>
      tpm.quote(keys.ak, [{ bank, pcrs: [0, 1, 2, 3] }], qualifyingData),
    ),
    answer: quoteRefused(/^quote-selection: sha256:0,1,2,3$/),
  },
  "bad-pcr7-rsa.json": {
    of: RHEL_RSA,
    change: { evidence: (honest) => ({ ...honest, pcrs: { ...honest.pcrs, "7": "ab".repeat(32) } }) },
    answer: quoteRefused(/^quote-digest/),
  },
  // Recorded so: the last octet of the digest is another one.
  "bad-signature-ecc.json": {
    of: RHEL_ECC,
    change: onTheWire((attest) => flipped(attest, -1)),
    answer: quoteRefused(/^quote-digest/),
  },
  "bad-signature-rsa.json": {
    of: RHEL_RSA,
    change: onTheWire((attest) => flipped(attest, -1)),
    answer: quoteRefused(/^quote-digest/),
  },
  "bad-trailing-rsa.json": {
    of: RHEL_RSA,
    change: onTheWire((attest) => Buffer.concat([attest, Buffer.of(0)])),
    answer: quoteRefused(/^quote-structure: .*trailing/),
  },
  "bad-trailing-sig-rsa.json": {
    of: RHEL_RSA,
    change: fromTheTpm(async ({ quote }) => ({
      ...quote,
      signature: Buffer.concat([quote.signature, Buffer.of(0, 0)]),
    })),
    answer: quoteRefused(/^quote-signature: .*trailing/),
  },
  "bad-truncated-rsa.json": {
    of: RHEL_RSA,
    change: onTheWire((attest) => attest.subarray(0, -5)),
    answer: quoteRefused(/^quote-structure: .*truncated/),
  },
  // fleetd asks for one bank: a quote over two is not what was asked for.
  "ok-two-banks-rsa.json": {
    of: RHEL_RSA,
    change: fromTheTpm((_, { tpm, keys, select, qualifyingData }) => {
      const selections = (["sha1", "sha256"] as const).map((bank) => ({ bank, pcrs: select }));
      return tpm.quote(keys.ak, selections, qualifyingData);
    }),
    answer: quoteRefused(/^quote-selection: sha1:.* sha256:/),
  },
};

/** Where a recorded change ends before the signature is looked at, one that gets there. */
export const MORE: Readonly<Record<string, Row>> = {
  "a perfect quote signed by the unrestricted key, in a session of the true AK": {
    of: RHEL_ECC,
    change: fromTheTpm(async ({ quote }, { tpm, keys }) => ({
      attest: quote.attest,
      signature: await tpm.sign(keys.ldevid, quote.attest),
    })),
    answer: quoteRefused(/^quote-signature/),
  },
  "the clock of the quote changed after signing": {
    of: RHEL_RSA,
    // Behind magic, type, the signer's name (2 + 34) and extraData (2 + 32) come eight octets of clock.
    change: onTheWire((attest) => flipped(attest, 4 + 2 + 36 + 34 + 7)),
    answer: quoteRefused(/^quote-signature/),
  },
  "one bit of the RSA signature": {
    of: RHEL_RSA,
    change: fromTheTpm(async ({ quote }) => ({ ...quote, signature: flipped(quote.signature, -1) })),
    answer: quoteRefused(/^quote-signature/),
  },
  "no log": {
    of: RHEL_RSA,
    change: { evidence: (honest) => ({ ...honest, eventLog: new Uint8Array(0) }) },
    answer: ["evidence", 403, "event-log-missing", /^event-log: no byte/],
  },
  "another machine's log": {
    of: RHEL_RSA,
    change: logOf("ok-sb-cert-rsa.json"),
    answer: ["evidence", 403, "event-log-mismatch", /^replay: PCR 0, /],
  },
  "an honest session where the profile lists another distribution's authority": {
    of: RHEL_RSA,
    accepted: "ok-sb-cert-rsa.json",
    change: {},
    answer: ["evidence", 403, "authority-not-accepted", /^authority: Shim: .*Red Hat Secure Boot CA 5/],
  },
};
