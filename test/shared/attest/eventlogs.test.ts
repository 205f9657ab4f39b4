import { describe, expect, test } from "vitest";
import { describeLog } from "../../../shared/attest/describe-log.ts";
import { EventLogError, readEventLog } from "../../../shared/formats/eventlog/log.ts";
import { vector, vectorJson } from "../../vectors/read.ts";

interface Authority {
  subject: string;
  sha256: string;
}

interface LogEntry {
  file: string;
  categories: string[];
  expected: {
    startupLocality?: number;
    pcrs?: Record<string, Record<string, string>>;
    secureBoot?: {
      enabled?: boolean;
      goAttestationRefuses?: string;
      preSeparatorAuthorities?: Authority[];
      postSeparatorAuthorities?: Authority[];
    };
    dbx?: { sha256OfVariableData?: string; bank?: string };
    separatorsPerPcr?: Record<string, number>;
  };
}

const logs = vectorJson<{ logs: LogEntry[] }>("eventlogs/manifest.json").logs;

/** Logs that are none, whatever other tools make of them: which record, and a word of the reason. */
const MALFORMED: Readonly<Record<string, [record: number, detail: RegExp]>> = {
  // Windows extends its own PCRs in one bank alone and logs it so.
  "guard-supermicro-WBCL-OSLOAD-quoted.log": [27, /not one of each algorithm/],
  "guard-tpm2_windows_lenovo_yogax1v2.bin": [40, /not one of each algorithm/],
  "keylime-binary_bios_measurements-bogus.bin": [0, /truncated/],
  "syn-digest-count-huge.bin": [4, /out-of-bounds/],
  "syn-empty.bin": [0, /truncated/],
  "syn-event-missing-bank.bin": [6, /not one of each algorithm/],
  "syn-ff-tail.bin": [83, /out-of-bounds/],
  "syn-header-zero-algorithms.bin": [0, /TCG_EfiSpecIdEvent/],
  "syn-pcr-index-24.bin": [7, /PCR index 24/],
  "syn-second-spec-id.bin": [2, /second Spec ID/],
  "tpm2tools-event-uefiaction.bin": [1, /not one of each algorithm/],
  "tpm2tools-event-uefivar.bin": [1, /not one of each algorithm/],
  "tpm2tools-specid-vendordata.bin": [0, /vendorInfo/],
};

/** Well-formed logs that no policy accepts, and why. */
const UNFIT: Readonly<Record<string, RegExp>> = {
  "syn-locality-late.bin": /StartupLocality event after a measurement of PCR 0/,
  "syn-second-separator-pcr7.bin": /2 separators in PCR 7/,
  "syn-separator-error-value.bin": /error value/,
};

describe("malformed logs are refused with record and offset", () => {
  test.each(Object.entries(MALFORMED))("%s", (file, [record, detail]) => {
    const bytes = vector(`eventlogs/${file}`);
    try {
      readEventLog(bytes);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof EventLogError)) throw error;
      expect(error.record).toBe(record);
      expect(error.message).toMatch(detail);
      expect(error.offset).toBeLessThanOrEqual(bytes.length);
    }
    const described = describeLog(bytes);
    expect([described.readable, described.fitForPolicy]).toEqual([false, false]);
    expect(described.problems.map((one) => one.code)).toEqual([
      bytes.length === 0 ? "event-log-missing" : "event-log-malformed",
    ]);
  });
});

describe("well-formed logs give the PCR values that other tools and the machines have", () => {
  const readable = logs.filter((log) => !Object.hasOwn(MALFORMED, log.file));
  test("the manifest's logs are all here", () =>
    expect(readable.length + Object.keys(MALFORMED).length).toBe(logs.length));
  test.each(readable.map((log) => [log.file, log] as const))("%s", (file, { expected }) => {
    const described = describeLog(vector(`eventlogs/${file}`));
    expect(described.readable).toBe(true);
    for (const [bank, pcrs] of Object.entries(expected.pcrs ?? {})) {
      // The manifest's tool lets a late event change the start of PCR 0; here the event is a reason to refuse.
      if (file === "syn-locality-late.bin") delete pcrs["0"];
      expect(described.pcrs[bank], bank).toEqual(expect.objectContaining(pcrs));
    }
  });
});

describe("PCR 7 says what go-attestation reads there", () => {
  const judged = logs.filter(
    (log) =>
      log.expected.secureBoot?.enabled !== undefined &&
      !Object.hasOwn(MALFORMED, log.file) &&
      !log.categories.includes("snippet"),
  );
  test.each(judged.map((log) => [log.file, log] as const))("%s", (file, { expected }) => {
    const described = describeLog(vector(`eventlogs/${file}`));
    expect(described.secureBoot).toBe(expected.secureBoot?.enabled);
    const certificates = (before: boolean): Authority[] =>
      described.authorities
        .filter((one) => one.beforeSeparator === before)
        .map(({ subject, sha256 }) => ({ subject: plainSubject(subject ?? ""), sha256 }));
    // The manifest's tool puts types that it has no name for behind the others, as hex.
    const plainSubject = (subject: string) =>
      subject.replace(/,?1\.2\.840\.113549\.1\.9\.1=#[0-9a-f]+|emailAddress=[^,]*,/g, "");
    const plain = (all: Authority[] | undefined) =>
      (all ?? []).map(({ subject, sha256 }) => ({ subject: plainSubject(subject), sha256 }));
    expect(certificates(true)).toEqual(plain(expected.secureBoot?.preSeparatorAuthorities));
    expect(certificates(false)).toEqual(plain(expected.secureBoot?.postSeparatorAuthorities));
    if (expected.dbx?.sha256OfVariableData) expect(described.dbxHash).toBe(expected.dbx.sha256OfVariableData);
  });
});

describe("logs that read well and prove nothing", () => {
  test.each(Object.entries(UNFIT))("%s", (file, reason) => {
    const described = describeLog(vector(`eventlogs/${file}`));
    expect(described.fitForPolicy).toBe(false);
    expect(described.problems.map((one) => one.detail).join("\n")).toMatch(reason);
  });

  test("protection against DMA turned off is said, and unfit", () => {
    expect(describeLog(vector("eventlogs/syn-dma-protection-disabled.bin")).fitForPolicy).toBe(false);
  });

  test("SHA-1 digests alone are unfit", () => {
    const described = describeLog(vector("eventlogs/guard-windows_event_log.bin"));
    expect(described.banks).toEqual(["sha1"]);
    expect(described.problems[0]).toEqual({
      code: "event-log-mismatch",
      record: null,
      offset: null,
      detail: "SHA-1 digests alone",
    });
  });
});

test("GRUB's command line is read where its digest proves it", () => {
  expect(describeLog(vector("eventlogs/goeventlog-rhel8-uefi.bin")).kernelCommandLine).toMatch(
    /^\(hd0,gpt2\)\/boot\/vmlinuz-/,
  );
  expect(describeLog(vector("vm/lab-sb-on/eventlog.bin")).kernelCommandLine).toBeNull();
});
