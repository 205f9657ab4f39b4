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
import { ALL, ANSWERS, answeredBundle, SELECT } from "../../vectors/answers.ts";
import { hex, vectorJson } from "../../vectors/read.ts";
import { ATTESTATIONS, readRecorded, toBundle } from "../../vectors/to-bundle.ts";

test("every recorded file has its line in the table", () => {
  const files = readdirSync(ATTESTATIONS).filter((file) => file.endsWith(".json") && file !== "manifest.json");
  expect(files.sort()).toEqual(Object.keys(ANSWERS).sort());
});

describe("every recorded attestation gets its answer", () => {
  test.each(Object.entries(ANSWERS))("%s", (file, [verdict, codes, because]) => {
    const bundle = answeredBundle(file);
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
  const files = Object.keys(ANSWERS).filter((file) => file.startsWith("real-"));
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

/** Where the answer is not the manifest's word, and why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  "bad-extra-unquoted-pcr10-rsa.json": "the manifest leaves a choice: the value that was not quoted is dropped",
  "ok-two-banks-rsa.json": "spec/20: the selection is exactly what was asked for, and one bank is",
  "gce-cos-85-no-nonce.json": "the manifest: accepted where an empty nonce is expected",
  "real-good-1.json": "no AK in the source: its parts are looked at above",
  "real-ludmilla.json": "no AK in the source: its parts are looked at above",
  "real-IMN-SUPERMICRO-no-epp.json": "no AK in the source: its parts are looked at above",
  "enrolment-swtpm.json": "no attestation: its certifications are looked at above",
};

test("every answer is the manifest's, or one of those that are explained", () => {
  const { sets } = vectorJson<{ sets: { file: string; expect: string }[] }>("attestations/manifest.json");
  expect(sets.map((set) => set.file).sort()).toEqual(Object.keys(ANSWERS).sort());
  const differing = sets.filter(({ file, expect: word }) => {
    const verdict = ANSWERS[file]?.[0];
    return word === "accept" ? verdict !== "accepted" : !(word.includes("refuse") && verdict !== "accepted");
  });
  expect(differing.map((set) => set.file).sort()).toEqual(Object.keys(OTHERWISE).sort());
});
