import { createHash, X509Certificate } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifyBundle } from "../../../shared/attest/bundle.ts";
import { loadProfile } from "../../../shared/attest/profile.ts";
import { attestQualifyingData, renewQualifyingData } from "../../../shared/attest/session.ts";
import { encode } from "../../../shared/formats/codec.ts";
import { TPMS_ATTEST } from "../../../shared/formats/tpm2/attest.ts";
import { pcrSelection } from "../../../shared/formats/tpm2/digest.ts";
import { vector, vectorText } from "../../vectors/read.ts";
import { authority, buildLog, separator, variables } from "./log-builder.ts";
import { rsaKey } from "./soft-key.ts";

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const pem = vectorText("vm/certs/lab-db.pem");
const lab = new Uint8Array(new X509Certificate(pem).raw);
const { log, pcrs } = buildLog([...variables(lab), separator, authority("db", lab)]);
const select = [0, 1, 2, 3, 4, 5, 6, 7];
const ak = rsaKey("rsapss", "sha384");
const nonce = new Uint8Array(32).fill(9);
const report = new TextEncoder().encode(JSON.stringify({ commandLine: "console=ttyS0" }));
const ldevidPublic = vector("vm/lab-sb-on/ldevid.pub.tpm2b");

type Quoted = { magic?: number; pcrs?: Record<string, string> };

function quoteOf(extraData: Uint8Array, changes: Quoted = {}): Uint8Array {
  const quoted = changes.pcrs ?? pcrs;
  const values = Buffer.concat(select.map((pcr) => Buffer.from(quoted[pcr] ?? "", "hex")));
  return encode(TPMS_ATTEST, {
    magic: changes.magic ?? 0xff544347,
    type: 0x8018,
    qualifiedSigner: new Uint8Array(34),
    extraData,
    clockInfo: { clock: 1n, resetCount: 2, restartCount: 3, safe: 1 },
    firmwareVersion: 4n,
    attested: {
      pcrSelect: [pcrSelection(0x000b, select)],
      // By the hash of the signature's scheme, not of the bank.
      pcrDigest: new Uint8Array(createHash("sha384").update(values).digest()),
    },
  });
}

function bundleOf(extraData: Uint8Array): Record<string, unknown> {
  const attest = quoteOf(extraData);
  return {
    akPublic: base64(ak.public),
    quote: { attest: base64(attest), signature: base64(ak.sign(attest)) },
    expectedExtraData: base64(extraData),
    pcrs: { sha256: pcrs },
    eventLog: base64(log),
    request: { bank: "sha256", select },
    report: base64(report),
    challenge: { nonce: base64(nonce) },
    secureBoot: "required",
    profile: "lab",
    at: "2026-11-29T20:00:00Z",
  };
}

const bundle = bundleOf(attestQualifyingData(nonce, report));
const loaded = loadProfile({ name: "lab", bank: "sha256", authorities: [{ pem, for: ["hookos"] }] });
if (!loaded.ok) throw new Error(loaded.problem);
const profile = loaded.profile;

test("a bundle is accepted, with all that was seen", () => {
  const result = verifyBundle(bundle, { profile });
  expect([result.verdict, result.codes]).toEqual(["accepted", []]);
  expect(result.boot?.counters).toEqual({
    clock: "1",
    resetCount: 2,
    restartCount: 3,
    safe: true,
    firmwareVersion: "0000000000000004",
  });
  expect(result.boot?.profile).toBe("lab");
});

test("without a profile all but the authorities is judged; a named one is found among those at hand", () => {
  expect(verifyBundle(bundle).checks.map((check) => check.name)).not.toContain("authority");
  expect(verifyBundle(bundle, { profiles: new Map([["lab", profile]]) }).checks.map((check) => check.name)).toContain(
    "authority",
  );
  expect(verifyBundle(bundle, { profile, purpose: "renewal" }).codes).toEqual(["authority-not-accepted"]);
});

test("the extraData must follow from the challenge and the report that are kept with it", () => {
  const other: Record<string, unknown> = {
    ...bundle,
    report: base64(new TextEncoder().encode(JSON.stringify({ commandLine: "other" }))),
  };
  const result = verifyBundle(other, { profile });
  expect([result.verdict, result.codes, result.checks.map((check) => check.name)]).toEqual([
    "refused",
    ["quote-invalid"],
    ["challenge"],
  ]);
  const { challenge: _, ...without } = other;
  expect(verifyBundle(without, { profile }).verdict).toBe("accepted");
});

test("an optional field that is null is none", () => {
  const nulls = {
    profile: null,
    ldevidPublic: null,
    certify: null,
    ekCertificates: null,
    secureBoot: null,
    purpose: null,
  };
  expect(verifyBundle({ ...bundle, ...nulls }).verdict).toBe("accepted");
});

test("a renewal's extraData is bound to the new key as well", () => {
  const renewal = {
    ...bundleOf(renewQualifyingData(nonce, report, ldevidPublic)),
    purpose: "renewal",
    ldevidPublic: base64(ldevidPublic),
  };
  expect(verifyBundle(renewal).verdict).toBe("accepted");
  expect(verifyBundle({ ...renewal, ldevidPublic: base64(vector("vm/net-ipxe/ldevid.pub.tpm2b")) }).codes).toEqual([
    "quote-invalid",
  ]);
});

test("a quote whose magic is another is refused for it, though the AK signed it", () => {
  const attest = quoteOf(attestQualifyingData(nonce, report), { magic: 0xff544348 });
  const result = verifyBundle({ ...bundle, quote: { attest: base64(attest), signature: base64(ak.sign(attest)) } });
  expect(result.checks.at(-1)?.name).toBe("quote-magic");
});

test("EK certificates are shown, readable or not, and decide nothing", () => {
  const ekCertificates = [base64(vector("ekcerts/stm-st33zp24-nv-header.der")), base64(Uint8Array.of(1, 2))];
  const result = verifyBundle({ ...bundle, ekCertificates }, { profile });
  expect(result.verdict).toBe("accepted");
  expect(result.checks.slice(0, 2).map((check) => [check.ok, check.seen.slice(0, 10)])).toEqual([
    [true, expect.stringMatching(/^sha256:/)],
    [true, "unreadable"],
  ]);
});

test("a report that is none is refused", () => {
  const { challenge: _, ...without } = bundle;
  expect(verifyBundle({ ...without, report: base64(Uint8Array.of(1)) }).codes).toEqual(["bad-request"]);
});

describe("bundles that cannot be read say where", () => {
  const cases: [string, unknown][] = [
    ["not an object", null],
    ["not an object", []],
    ["akPublic", { ...bundle, akPublic: 1 }],
    ["quote", { ...bundle, quote: { attest: "AA==" } }],
    ["expectedExtraData", { ...bundle, expectedExtraData: "?" }],
    ["pcrs", { ...bundle, pcrs: { sha256: { 0: 1 } } }],
    ["pcrs", { ...bundle, pcrs: [] }],
    ["eventLog", { ...bundle, eventLog: undefined }],
    ["request", { ...bundle, request: { bank: "sha1", select: [0] } }],
    ["request", { ...bundle, request: { bank: "sha256", select: [24] } }],
    ["ekCertificates", { ...bundle, ekCertificates: "?" }],
    ["ldevidPublic", { ...bundle, ldevidPublic: 7 }],
    ["certify", { ...bundle, certify: {} }],
    ["report", { ...bundle, report: {} }],
    ["challenge", { ...bundle, challenge: {} }],
    ["profile", { ...bundle, profile: 1 }],
    ["purpose", { ...bundle, purpose: "play" }],
    ["secureBoot", { ...bundle, secureBoot: true }],
  ];
  test.each(cases)("%s", (field, value) => {
    const result = verifyBundle(value);
    expect([result.verdict, result.checks.map((check) => check.seen)]).toEqual([
      "unreadable",
      [expect.stringMatching(new RegExp(`^${field}(: .*)?$`))],
    ]);
  });
});

test("whatever field holds whatever, there is an answer, and none of them is yes", () => {
  const fields = ["akPublic", "quote", "expectedExtraData", "pcrs", "eventLog", "request"];
  fc.assert(
    fc.property(fc.constantFrom(...fields), fc.oneof(fc.jsonValue(), fc.base64String()), (field, value) => {
      return verifyBundle({ ...bundle, [field]: value }, { profile }).verdict !== "accepted";
    }),
    { numRuns: 500, seed: 20_261_129 },
  );
});

describe("what an accepted bundle leaves open is said in it", () => {
  const open = (value: unknown, options: Parameters<typeof verifyBundle>[1] = { profile }) => {
    const { verdict, checks } = verifyBundle(value, options);
    const named = checks.filter((check) => ["challenge", "profile"].includes(check.name));
    return [verdict, named.map((check) => `${check.name}: ${check.seen}`)];
  };
  test("nothing, where challenge and profile are at hand", () => expect(open(bundle)).toEqual(["accepted", []]));
  test("a report that nothing binds", () => {
    const { challenge: _, ...rest } = bundle;
    expect(open(rest)).toEqual([
      "accepted",
      ["challenge: no challenge with a report: expectedExtraData is taken as given"],
    ]);
    const recorded = { ...bundleOf(nonce), challenge: { nonce: base64(nonce) } };
    expect(open(recorded)).toEqual(["accepted", ["challenge: the nonce itself is what was quoted"]]);
  });
  test("an LDevID key that nothing certifies, and one that is none", () => {
    const { verdict, checks } = verifyBundle({ ...bundle, ldevidPublic: base64(ldevidPublic) }, { profile });
    expect([verdict, checks.find((check) => check.name === "certify")?.seen]).toEqual(["accepted", "none"]);
    expect(verifyBundle({ ...bundle, ldevidPublic: "AAAA" }, { profile }).codes).toEqual(["ldevid-attributes"]);
    expect(verifyBundle({ ...bundle, ldevidPublic: base64(ak.public) }, { profile }).codes).toEqual([
      "ldevid-attributes",
    ]);
  });
  test("a verdict of then that is another", () => {
    const recorded = (verdict: unknown) =>
      verifyBundle({ ...bundle, verdict }, { profile }).checks.flatMap((check) =>
        check.name === "recorded-verdict" ? [check.seen] : [],
      );
    expect(recorded({ result: "pass", codes: [] })).toEqual([]);
    expect(recorded({ result: "fail", codes: ["not-hookos"], profile: "talos" })).toEqual([
      "fail (not-hookos) by profile talos",
    ]);
  });
  test("authorities are judged with Secure Boot on alone, where no class says else", () => {
    const off = buildLog([...variables(lab, Uint8Array.of(0)), separator, authority("db", lab)]);
    const attest = quoteOf(attestQualifyingData(nonce, report), { pcrs: off.pcrs });
    const quote = { attest: base64(attest), signature: base64(ak.sign(attest)) };
    const { secureBoot: _, ...rest } = bundle;
    const value = { ...rest, quote, pcrs: { sha256: off.pcrs }, eventLog: base64(off.log) };
    expect(verifyBundle(value, { profile }).codes).toEqual(["secure-boot-mismatch"]);
    expect(verifyBundle(value).boot).toMatchObject({ result: "pass", secureBoot: false, bootProven: false });
  });
  test("authorities that nobody judged", () => {
    expect(open(bundle, {})).toEqual(["accepted", ["profile: lab, which is not at hand"]]);
    expect(open({ ...bundle, profile: null }, {})).toEqual(["accepted", ["profile: none"]]);
  });
});
