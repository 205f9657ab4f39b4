import { describe, expect, test } from "vitest";
import { type BootInput, judgeBoot, loadOptions } from "../../../shared/attest/boot.ts";
import { bindEks, presentedEks } from "../../../shared/attest/ek-binding.ts";
import { ekDigest, judgeAk, judgeEk, judgeLdevid, nameOf, readPublic } from "../../../shared/attest/keys.ts";
import { type BootPolicyProfile, loadProfile, profilePcrs } from "../../../shared/attest/profile.ts";
import { verifyQuoteStage } from "../../../shared/attest/verify.ts";
import { hex, vector, vectorText } from "../../vectors/read.ts";
import { type VmSet, vmSets } from "../../vectors/to-bundle.ts";

const sets = vmSets();
const select = Array.from({ length: 16 }, (_, i) => i);
const file = (set: VmSet, name: string): Uint8Array => vector(`vm/${set.name}/${name}`);

function profile(json: Record<string, unknown>): BootPolicyProfile {
  const loaded = loadProfile({ bank: "sha256", ...json });
  if (!loaded.ok) throw new Error(loaded.problem);
  return loaded.profile;
}

const lab = { pem: vectorText("vm/certs/lab-db.pem") };
const debianCertificates = [
  vectorText("vm/certs/Microsoft-Corporation-UEFI-CA-2011.pem"),
  vectorText("vm/certs/Microsoft-UEFI-CA-2023.pem"),
  vectorText("vm/certs/Debian-Secure-Boot-CA.pem"),
].map((pem) => ({ pem, for: ["os"] }));
const debian = profile({ name: "debian", authorities: [{ ...lab, for: ["hookos"] }, ...debianCertificates] });
const talos = profile({
  name: "talos",
  authorities: [{ ...lab, for: ["hookos", "os"] }],
  hookosMarker: "panic=5",
  osMarker: "talos.platform=metal",
});

function judge(set: VmSet, changes: Partial<BootInput>) {
  return judgeBoot({
    eventLog: set.expect.event_log ? file(set, "eventlog.bin") : new Uint8Array(0),
    bank: "sha256",
    select,
    pcrs: set.expect.pcrs_sha256,
    profile: null,
    withoutProfile: true,
    purpose: "intake",
    secureBoot: null,
    commandLine: vectorText(`vm/${set.name}/cmdline.txt`).trimEnd(),
    attest: file(set, "quote.msg"),
    ...changes,
  });
}

function setOf(name: string): VmSet {
  const set = sets.find((one) => one.name === name);
  if (!set) throw new Error(name);
  return set;
}

describe.each(sets.map((set) => [set.name, set] as const))("%s", (_, set) => {
  test("keys: names, digests, templates and attributes", () => {
    const ak = readPublic(file(set, "ak.pub.tpm2b"));
    expect(hex(nameOf(ak))).toBe(set.expect.ak_name);
    expect(hex(nameOf(ak))).toBe(hex(file(set, "ak.name")));
    expect(judgeAk(ak)).toBeNull();
    expect(judgeLdevid(readPublic(file(set, "ldevid.pub.tpm2b")))).toBeNull();
    const ek = readPublic(file(set, "ek.pub.tpm2b"));
    expect(ekDigest(ek)).toBe(`sha256:${set.expect.ek_spki_der_sha256}`);
    expect([judgeEk(ek), judgeEk(readPublic(file(set, "ek-ecc.pub.tpm2b")))]).toEqual([null, null]);
  });

  test("the quote stage holds, and not for another nonce, selection, value or key", () => {
    const stage = {
      akPublic: file(set, "ak.pub.tpm2b"),
      quote: { attest: file(set, "quote.msg"), signature: file(set, "quote.sig") },
      expectedExtraData: new Uint8Array(Buffer.from(set.expect.nonce, "hex")),
      bank: "sha256" as const,
      select,
      pcrs: set.expect.pcrs_sha256,
      ldevidPublic: file(set, "ldevid.pub.tpm2b"),
      certify: { attest: file(set, "certify.msg"), signature: file(set, "certify.sig") },
    };
    expect(verifyQuoteStage(stage)).toBeNull();
    const code = (changes: Partial<typeof stage>) => verifyQuoteStage({ ...stage, ...changes })?.code;
    expect(code({ expectedExtraData: new Uint8Array(20) })).toBe("quote-invalid");
    expect(code({ select: select.slice(0, 8) })).toBe("quote-invalid");
    expect(code({ pcrs: { ...stage.pcrs, 7: "00".repeat(32) } })).toBe("quote-invalid");
    expect(code({ pcrs: {} })).toBe("quote-invalid");
    expect(code({ akPublic: stage.ldevidPublic })).toBe("ak-attributes");
    expect(code({ ldevidPublic: stage.akPublic })).toBe("ldevid-attributes");
    expect(code({ certify: stage.quote })).toBe("certify-invalid");
  });

  test("the log says what other tools read in it", () => {
    const verdict = judge(set, {});
    if (!set.expect.event_log) {
      expect(verdict.codes).toContain("event-log-missing");
      return;
    }
    expect([verdict.result, verdict.codes, verdict.checks.filter((check) => !check.ok)]).toEqual(["pass", [], []]);
    expect(verdict.secureBoot).toBe(set.expect.secure_boot);
    const certificates = set.expect.authorities_after_separator.flatMap((one) => (one.der_sha256 ? [one] : []));
    expect(verdict.authorities).toEqual(
      certificates.map(({ variable, der_sha256, subject }) => {
        return { sha256: der_sha256, subject, name: variable, pcr: 7, beforeSeparator: false };
      }),
    );
    expect(verdict.dbxHash).toBe(set.expect.dbx?.variable_sha256 ?? verdict.dbxHash);
    expect(verdict.sbatLevel).toBe(set.expect.sbat_level_sha256);
    expect(verdict.pcrs).toEqual(set.expect.pcrs_sha256);
  });
});

describe("who signed what ran", () => {
  const codes = (name: string, changes: Partial<BootInput>) =>
    judge(setOf(name), { withoutProfile: false, secureBoot: "required", ...changes }).codes;
  test("a class without a profile", () => expect(codes("lab-sb-on", {})).toEqual(["profile-missing"]));
  test("HookOS by the lab's key, under the debian profile", () => {
    expect(codes("lab-sb-on", { profile: debian })).toEqual([]);
    expect(codes("net-ipxe", { profile: debian })).toEqual([]);
  });
  test("Debian where HookOS must be", () => expect(codes("debian-ms", { profile: debian })).toEqual(["not-hookos"]));
  test("Debian at a renewal", () => {
    expect(codes("debian-ms", { profile: debian, purpose: "renewal" })).toEqual([]);
    expect(codes("debian-labms", { profile: debian, purpose: "renewal" })).toEqual([]);
  });
  test("HookOS at a renewal", () => {
    expect(codes("lab-sb-on", { profile: debian, purpose: "renewal" })).toEqual(["authority-not-accepted"]);
  });
  test("Debian under a profile of the lab's key alone", () => {
    const strict = profile({ name: "lab", authorities: [{ ...lab, for: ["hookos"] }] });
    expect(codes("debian-ms", { profile: strict })).toEqual(["authority-not-accepted"]);
  });
  test("Secure Boot off: all reasons are given", () => {
    expect(codes("lab-sb-off", { profile: debian })).toEqual(["secure-boot-mismatch", "authority-not-accepted"]);
    expect(codes("lab-setup-mode", { profile: debian })).toEqual(["secure-boot-mismatch", "authority-not-accepted"]);
    expect(codes("lab-sb-off", { profile: debian, secureBoot: "off" })).toEqual([]);
    expect(codes("lab-sb-on", { profile: debian, secureBoot: "off" })).toEqual(["secure-boot-mismatch"]);
  });
});

describe("where one key signs both stages the command line decides", () => {
  const set = setOf("lab-sb-on");
  const line = vectorText("vm/lab-sb-on/cmdline.txt").trimEnd();
  const judged = (changes: Partial<BootInput>) =>
    judge(set, { profile: talos, withoutProfile: false, secureBoot: "required", ...changes });
  test("the profile asks for PCR 9 too", () => expect(profilePcrs(talos)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 9]));
  test("the measured line with HookOS's word", () => expect(judged({}).codes).toEqual([]));
  test("the same line is no installed system", () =>
    expect(judged({ purpose: "renewal" }).codes).toEqual(["authority-not-accepted"]));
  test("another line, with the word", () => {
    const verdict = judged({ commandLine: `${line} more` });
    expect(verdict.codes).toEqual(["not-hookos"]);
    expect(verdict.checks.find((check) => check.name === "command-line")?.seen).toMatch(
      /^not what PCR 9 measured first/,
    );
  });
  test("a word that is only a part of one", () => {
    const part = { ...talos, hookosMarker: "panic" };
    expect(judged({ profile: part }).codes).toEqual(["not-hookos"]);
  });
  test("no line, or no PCR 9 in the quote", () => {
    expect(judged({ commandLine: null }).codes).toEqual(["not-hookos"]);
    expect(judged({ select: [0, 1, 2, 3, 4, 5, 6, 7] }).codes).toEqual(["event-log-mismatch", "not-hookos"]);
  });
  test("what the stub measures is UTF-16 with its NUL", () => expect(hex(loadOptions("aé"))).toBe("6100e9000000"));
});

describe("values that no firmware leaves", () => {
  const set = setOf("lab-sb-on");
  test("PCR 0 or 7 of zeros", () => {
    const pcrs = { ...set.expect.pcrs_sha256, 7: "00".repeat(32) };
    expect(judge(set, { pcrs }).codes).toEqual(["pcr-zero", "event-log-mismatch"]);
  });
  test("a log of another boot", () => {
    const eventLog = file(setOf("net-ipxe"), "eventlog.bin");
    expect(judge(set, { eventLog }).codes).toEqual(["event-log-mismatch"]);
  });
  test("an event that the profile requires", () => {
    const event = { pcr: 9, digest: "a6863fcbdef03ab38fbf66f595d27f849e1e15f1226d65ada2175dd24e064295", note: "" };
    const with_ = (digest: string) =>
      judge(set, { profile: { ...debian, requiredEvents: [{ ...event, digest }] } }).codes;
    expect(with_(event.digest)).toEqual([]);
    expect(with_("00".repeat(32))).toEqual(["event-log-mismatch"]);
  });
});

describe("binding a machine's EKs to its approved ones", () => {
  const set = setOf("lab-sb-on");
  const both = presentedEks([file(set, "ek.pub.tpm2b"), file(set, "ek-ecc.pub.tpm2b")]);
  const [rsa, ecc] = both.map((one) => one.digest);
  const code = (...args: Parameters<typeof bindEks>) => {
    const result = bindEks(...args);
    return result.ok ? result.eks.map((one) => one.digest) : result.refusal.code;
  };
  if (!rsa || !ecc) throw new Error("two EKs wanted");
  test("every approved one is challenged, another is left out", () => {
    expect(code([rsa], both)).toEqual([rsa]);
    expect(code([ecc, rsa], both)).toEqual([rsa, ecc].sort());
  });
  test("one approved of two is missing", () => expect(code([rsa, ecc], both.slice(0, 1))).toBe("ek-missing"));
  test("none is approved", () => {
    expect(code([], both)).toBe("ek-not-approved");
    expect(code([`sha256:${"0".repeat(64)}`], both)).toBe("ek-not-approved");
    expect(code([rsa], [])).toBe("ek-not-approved");
  });
  test("approved in the inventory and not pinned in git", () => {
    expect(code([rsa], both, [ecc])).toBe("ek-not-pinned");
    expect(code([rsa], both, [rsa, ecc])).toEqual([rsa]);
  });
  test("the approved key in an area of another template", () => {
    const [first] = both;
    if (!first) throw new Error("an EK wanted");
    const area = { ...first.area, objectAttributes: { ...first.area.objectAttributes, restricted: false } };
    expect(code([rsa], [{ ...first, area }])).toBe("ek-template");
  });
});
