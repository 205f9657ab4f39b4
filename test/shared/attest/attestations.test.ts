import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { judgeBoot } from "../../../shared/attest/boot.ts";
import { verifyBundle } from "../../../shared/attest/bundle.ts";
import { certifyProblem } from "../../../shared/attest/certify.ts";
import { describeLog } from "../../../shared/attest/describe-log.ts";
import { readPublic } from "../../../shared/attest/keys.ts";
import { digest } from "../../../shared/crypto/hash.ts";
import { decode } from "../../../shared/formats/codec.ts";
import { hashName } from "../../../shared/formats/tpm2/algorithms.ts";
import { TPMS_ATTEST } from "../../../shared/formats/tpm2/attest.ts";
import { selectedPcrs } from "../../../shared/formats/tpm2/digest.ts";
import { hex } from "../../vectors/read.ts";
import { ATTESTATIONS, readRecorded, toBundle } from "../../vectors/to-bundle.ts";

const SELECT = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14];
const ALL = Array.from({ length: 24 }, (_, i) => i);

type Expected = readonly ["accepted" | "refused" | "unreadable", codes: readonly string[], because: RegExp];

/** Every recorded attestation: what a verifier must say, and of what it must speak. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  "bad-bank-sha1-rsa.json": ["refused", ["quote-invalid"], /^quote-selection: sha1:/],
  "bad-certify-as-quote-rsa.json": ["refused", ["quote-invalid"], /^quote-type: 0x8017/],
  // The value that was not asked for is dropped: what is left is a good quote.
  "bad-extra-unquoted-pcr10-rsa.json": ["accepted", [], /^$/],
  "bad-forged-by-unrestricted-key-rsa.json": ["refused", ["ak-attributes"], /attributes 0x00040072/],
  "bad-log-all-seps-retyped.json": ["refused", ["secure-boot-mismatch"], /0 separators in PCR 7/],
  "bad-log-cut-mid-event.json": ["refused", ["event-log-malformed"], /record 82 at byte 33872/],
  "bad-log-last-two-swapped.json": ["refused", ["event-log-mismatch"], /^replay: PCR 5 /],
  "bad-log-late-secureboot-event-rsa.json": ["refused", ["secure-boot-mismatch"], /variable SecureBoot twice/],
  "bad-log-sep7-retyped.json": ["refused", ["secure-boot-mismatch"], /0 separators in PCR 7/],
  "bad-log-trailing-zero-page.json": ["refused", ["event-log-malformed"], /record 83 at byte 34034/],
  "bad-log-truncated-last-event.json": ["refused", ["event-log-mismatch"], /^replay: PCR 5 /],
  "bad-magic-rsa.json": ["refused", ["quote-invalid"], /^quote-magic/],
  "bad-nonce-rsa.json": ["refused", ["quote-invalid"], /^quote-nonce/],
  "bad-other-ak-rsa.json": ["refused", ["quote-invalid"], /^quote-signature: scheme 0x14/],
  "bad-partial-selection-rsa.json": ["refused", ["quote-invalid"], /^quote-selection: sha256:0,1,2,3$/],
  "bad-pcr7-rsa.json": ["refused", ["quote-invalid"], /^quote-digest/],
  "bad-signature-ecc.json": ["refused", ["quote-invalid"], /^quote-digest/],
  "bad-signature-rsa.json": ["refused", ["quote-invalid"], /^quote-digest/],
  "bad-trailing-rsa.json": ["refused", ["quote-invalid"], /^quote-structure: .*trailing/],
  "bad-trailing-sig-rsa.json": ["refused", ["quote-invalid"], /^quote-signature: .*trailing/],
  "bad-truncated-rsa.json": ["refused", ["quote-invalid"], /^quote-structure: .*truncated/],
  "enrolment-swtpm.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "gce-cos-85-no-nonce.json": ["accepted", [], /^$/],
  "ok-fedora-keylime-sb-ecc.json": ["accepted", [], /^$/],
  "ok-fedora-keylime-sb-rsa.json": ["accepted", [], /^$/],
  "ok-rhel8-gce-ecc.json": ["accepted", [], /^$/],
  "ok-rhel8-gce-rsa.json": ["accepted", [], /^$/],
  "ok-sb-cert-rsa.json": ["accepted", [], /^$/],
  "ok-sha384-bank-rsa.json": ["accepted", [], /^$/],
  // fleetd asks for one bank: a quote over two is not what was asked for.
  "ok-two-banks-rsa.json": ["refused", ["quote-invalid"], /^quote-selection: sha1:.* sha256:/],
  "ok-ubuntu-tcglog-ecc.json": ["accepted", [], /^$/],
  "ok-ubuntu-tcglog-rsa.json": ["accepted", [], /^$/],
  "ok-ubuntu2404-nosb-ecc.json": ["accepted", [], /^$/],
  "ok-ubuntu2404-nosb-rsa.json": ["accepted", [], /^$/],
  // The AK's public area is not in the source of these: parts of them are looked at below.
  "real-IMN-DELL.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-IMN-SUPERMICRO-no-epp.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-failed-1.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-failed-2.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-good-1.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-hahuri-no-eventlog.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
  "real-ludmilla.json": ["unreadable", ["bad-request"], /^bundle: akPublic/],
};

test("every recorded file has its line in the table", () => {
  const files = readdirSync(ATTESTATIONS).filter((file) => file.endsWith(".json") && file !== "manifest.json");
  expect(files.sort()).toEqual(Object.keys(EXPECTED).sort());
});

describe("every recorded attestation gets its answer", () => {
  test.each(Object.entries(EXPECTED))("%s", (file, [verdict, codes, because]) => {
    const gce = file.startsWith("gce");
    const bundle = toBundle(readRecorded(file), gce ? ALL : SELECT, file.includes("sha384") ? "sha384" : "sha256");
    const result = verifyBundle(bundle);
    const reasons = result.checks.filter((check) => !check.ok).map((check) => `${check.name}: ${check.seen}`);
    expect([result.verdict, result.codes], reasons.join("\n")).toEqual([verdict, codes]);
    expect(reasons.length === 0 ? "" : reasons.find((reason) => because.test(reason))).toMatch(because);
    expect(verifyBundle(bundle)).toEqual(result);
  });
});

test("a value that was not quoted is nowhere in the verdict", () => {
  const result = verifyBundle(toBundle(readRecorded("bad-extra-unquoted-pcr10-rsa.json"), SELECT, "sha256"));
  expect(Object.keys(result.boot?.pcrs ?? {}).map(Number)).toEqual(SELECT);
});

test("Google's quote has no nonce: one that is expected is missed", () => {
  const recorded = readRecorded("gce-cos-85-no-nonce.json");
  expect(verifyBundle(toBundle(recorded, ALL, "sha384")).verdict).toBe("accepted");
  expect(verifyBundle(toBundle(recorded, ALL, "sha256", "9009")).codes).toEqual(["quote-invalid"]);
});

test("Secure Boot that a class demands and the machine has not", () => {
  const bundle = toBundle(readRecorded("ok-ubuntu2404-nosb-rsa.json"), SELECT, "sha256");
  expect(verifyBundle({ ...bundle, secureBoot: "required" }).codes).toEqual(["secure-boot-mismatch"]);
  const off = verifyBundle({ ...bundle, secureBoot: "off" });
  expect([off.verdict, off.boot?.bootProven]).toEqual(["accepted", false]);
});

describe("quotes of real machines: the digest is of the values, bank after bank as selected", () => {
  const files = Object.keys(EXPECTED).filter((file) => file.startsWith("real-"));
  test.each(files)("%s", (file) => {
    const recorded = readRecorded(file) as {
      quote: string;
      pcrs?: Record<string, Record<string, string>>;
      extraData: string;
    };
    const read = decode(TPMS_ATTEST, Buffer.from(recorded.quote, "base64"), "TPMS_ATTEST");
    if (read.type !== 0x8018) throw new Error("no quote");
    expect(hex(read.extraData)).toBe(recorded.extraData);
    const values = read.attested.pcrSelect.flatMap((selection) =>
      selectedPcrs(selection).map((pcr) =>
        Buffer.from(recorded.pcrs?.[hashName(selection.hash) ?? ""]?.[pcr] ?? "", "hex"),
      ),
    );
    expect(hex(digest("sha256", ...values))).toBe(hex(read.attested.pcrDigest));
  });
});

describe("logs of real machines against what they quoted", () => {
  const judged = (file: string) => {
    const recorded = readRecorded(file) as { pcrs: Record<string, Record<string, string>>; eventLog?: string };
    const select = [0, 1, 2, 3, 4, 5, 6, 7];
    const eventLog = new Uint8Array(Buffer.from(recorded.eventLog ?? "", "base64"));
    return judgeBoot({
      eventLog,
      bank: "sha256",
      select,
      pcrs: recorded.pcrs.sha256 ?? {},
      profile: null,
      withoutProfile: true,
      purpose: "intake",
      secureBoot: null,
      commandLine: null,
      attest: null,
    });
  };
  test("real-good-1: accepted, by the owner's own key", () => {
    const verdict = judged("real-good-1.json");
    expect([verdict.result, verdict.codes]).toEqual(["pass", []]);
    expect(verdict.authorities.map((one) => one.subject)).toEqual(["CN=Database Key,C=Database Key"]);
  });
  test.each(["real-failed-1.json", "real-failed-2.json"])("%s: PCR 0 differs", (file) => {
    const verdict = judged(file);
    expect(verdict.codes).toEqual(["event-log-mismatch"]);
    expect(verdict.checks.find((check) => check.name === "replay")?.seen).toBe("PCR 0 differ or are not quoted");
  });
  test("real-hahuri-no-eventlog: no log", () =>
    expect(judged("real-hahuri-no-eventlog.json").codes).toContain("event-log-missing"));
  test("real-IMN-DELL: an authority before the separator, in a log of SHA-1 alone", () => {
    const recorded = readRecorded("real-IMN-DELL.json") as { eventLog: string };
    const described = describeLog(new Uint8Array(Buffer.from(recorded.eventLog, "base64")));
    expect(described.authorities.map((one) => [one.beforeSeparator, one.name])).toContainEqual([true, "db"]);
    expect(described.banks).toEqual(["sha1"]);
  });
});

describe("swtpm's certifications of LDevIDs by AKs", () => {
  const recorded = readRecorded("enrolment-swtpm.json") as Record<string, string> & {
    certify: Record<string, { attest: string; signature: string }>;
  };
  const bytes = (text: string | undefined) => new Uint8Array(Buffer.from(text ?? "", "base64"));
  const key = (name: string) => readPublic(bytes(recorded[name]));
  const kinds = ["rsa", "ecc"].flatMap((ak) => ["rsa", "ecc"].map((ldevid) => [ak, ldevid] as const));
  const capital = (kind: string) => `${kind[0]?.toUpperCase()}${kind.slice(1)}`;
  test.each(kinds)("%s AK, %s LDevID", (ak, ldevid) => {
    const made = recorded.certify[`ak_${ak}__ldevid_${ldevid}`];
    const input = {
      akPublic: key(`akPublic${capital(ak)}`),
      subject: key(`ldevidPublic${capital(ldevid)}`),
      attest: bytes(made?.attest),
      signature: bytes(made?.signature),
    };
    expect(certifyProblem(input)).toBeNull();
    const other = key(`ldevidPublic${capital(ldevid === "rsa" ? "ecc" : "rsa")}`);
    expect(certifyProblem({ ...input, subject: other })?.check.name).toBe("certify-name");
    const changed = input.attest.map((octet, i) => (i === 60 ? octet ^ 1 : octet));
    expect(certifyProblem({ ...input, attest: changed })?.check.name).toBe("certify-signature");
    expect(certifyProblem({ ...input, attest: input.attest.subarray(1) })?.check.name).toBe("certify-structure");
  });
});
