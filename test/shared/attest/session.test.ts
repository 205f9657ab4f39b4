import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { activationsFit } from "../../../shared/attest/activation.ts";
import { CODE_RANDOM_BYTES, installCode, isCodeShaped } from "../../../shared/attest/code.ts";
import { fromBase64, fromHex, toBase64 } from "../../../shared/attest/hex.ts";
import { readPublic } from "../../../shared/attest/keys.ts";
import { readCommandLine, readReport } from "../../../shared/attest/report.ts";
import { codeHash, open, SEAL_RANDOM_BYTES, seal } from "../../../shared/attest/seal.ts";
import {
  attestQualifyingData,
  confirmMessage,
  renewQualifyingData,
  renewSignMessage,
} from "../../../shared/attest/session.ts";
import { REFUSAL_CODES } from "../../../shared/attest/verdict.ts";
import { messageProblem } from "../../../shared/attest/verify.ts";
import { encode } from "../../../shared/formats/codec.ts";
import { TPM2B_PUBLIC } from "../../../shared/formats/tpm2/public.ts";
import { TPMT_SIGNATURE } from "../../../shared/formats/tpm2/signature.ts";
import { hex, vector } from "../../vectors/read.ts";
import { refusedAs } from "../formats/five-parts.ts";

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const sha = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((h, part) => h.update(part), createHash("sha256")).digest();

describe("what is signed", () => {
  const nonce = new Uint8Array(32).fill(1);
  const report = text("{}");
  const area = text("area");
  test("an enrolment's qualifying data", () => {
    expect(hex(attestQualifyingData(nonce, report))).toBe(
      sha(text("fleetd attest v1"), nonce, sha(report)).toString("hex"),
    );
  });
  test("a renewal's, and what the old key signs", () => {
    expect(hex(renewQualifyingData(nonce, report, area))).toBe(
      sha(text("fleetd renew v1"), nonce, sha(report), sha(area)).toString("hex"),
    );
    expect(hex(renewSignMessage(nonce, report, area))).toBe(
      Buffer.concat([text("fleetd renew-sign v1"), nonce, sha(report), sha(area)]).toString("hex"),
    );
  });
  test("a confirmation, with certificates and without", () => {
    const message = (a: Uint8Array | null, b: Uint8Array | null) => hex(confirmMessage(nonce, a, b));
    const of = (a: Uint8Array, b: Uint8Array) =>
      Buffer.concat([text("fleetd confirm v1"), nonce, sha(a), sha(b)]).toString("hex");
    expect(message(text("leaf"), text("lak"))).toBe(of(text("leaf"), text("lak")));
    expect(message(null, null)).toBe(of(text(""), text("")));
  });
  test("a message signed by the LDevID key, and by no other", () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwk = publicKey.export({ format: "jwk" });
    const part = (value: string | undefined) => new Uint8Array(Buffer.from(value ?? "", "base64url"));
    const ldevid = readPublic(vector("vm/lab-sb-on/ldevid.pub.tpm2b"));
    if (ldevid.type !== 0x0023) throw new Error("no ECC key");
    const own = encode(TPM2B_PUBLIC, { ...ldevid, unique: { x: part(jwk.x), y: part(jwk.y) } });
    const raw = new Uint8Array(sign("sha256", report, { key: privateKey, dsaEncoding: "ieee-p1363" }));
    const signature = encode(TPMT_SIGNATURE, {
      sigAlg: 0x0018,
      hash: 0x000b,
      signatureR: raw.subarray(0, 32),
      signatureS: raw.subarray(32),
    });
    expect(messageProblem("confirm-invalid", own, report, signature)).toBeNull();
    expect(messageProblem("confirm-invalid", own, nonce, signature)?.code).toBe("confirm-invalid");
    const other = vector("vm/lab-sb-on/ldevid.pub.tpm2b");
    expect(messageProblem("renewal-signature-invalid", other, report, signature)?.code).toBe(
      "renewal-signature-invalid",
    );
    expect(messageProblem("confirm-invalid", text("?"), report, signature)?.code).toBe("confirm-invalid");
    expect(messageProblem("confirm-invalid", own, report, signature.subarray(1))?.code).toBe("confirm-invalid");
  });
});

describe("recovered secrets", () => {
  const [a, b] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  test("all of them, in order", () => expect(activationsFit([a, b], [a, b])).toBe(true));
  test.each([
    ["another order", [a, b], [b, a]],
    ["one missing", [a, b], [a]],
    ["one too many", [a], [a, b]],
    ["a shorter one", [a], [a.subarray(1)]],
    ["none wanted", [], []],
  ])("%s", (_, expected, given) => expect(activationsFit(expected, given)).toBe(false));
});

describe("install codes", () => {
  test("26 characters of base32, each of five of the bits", () => {
    const random = Uint8Array.from({ length: CODE_RANDOM_BYTES }, (_, i) => i * 37 + 11);
    const code = installCode(random);
    const bits = Array.from(random, (octet) => octet.toString(2).padStart(8, "0")).join("");
    const expected = Array.from({ length: 26 }, (_, i) =>
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".charAt(Number.parseInt(bits.slice(5 * i, 5 * i + 5), 2)),
    ).join("");
    expect(code).toBe(expected);
    expect(isCodeShaped(code)).toBe(true);
  });
  test("too little randomness makes none", () => expect(() => installCode(new Uint8Array(16))).toThrow(RangeError));
  test.each(["", ["$", "{code}"].join(""), "abcdefghijklmnopqrstuvwxyz", "A".repeat(27)])(
    "%j has no code's shape",
    (shape) => expect(isCodeShaped(shape)).toBe(false),
  );
  test("what is kept of a code is its labelled hash", () => {
    expect(codeHash("A".repeat(26))).toBe(sha(text("fleetd code v1"), text("A".repeat(26))).toString("hex"));
  });
});

describe("sealed payloads", () => {
  const context = { deviceId: 7, runId: "run-1", uuid: "u", contentType: "application/yaml" };
  const random = Uint8Array.from({ length: SEAL_RANDOM_BYTES }, (_, i) => i);
  const payload = text("machine: {}");
  const sealed = seal("A".repeat(26), payload, context, random);
  test("open under their code and context", () => expect(open("A".repeat(26), sealed, context)).toEqual(payload));
  test("open under no other code", () => expect(open("B".repeat(26), sealed, context)).toBeNull());
  test.each([
    ["device", { deviceId: 8 }],
    ["run", { runId: "run-2" }],
    ["UUID", { uuid: "v" }],
    ["content type", { contentType: "text/plain" }],
  ])("open for no other %s", (_, other) => expect(open("A".repeat(26), sealed, { ...context, ...other })).toBeNull());
  test("hide the payload and open only whole", () => {
    expect(Buffer.from(sealed).includes(Buffer.from(payload))).toBe(false);
    for (let length = 0; length < sealed.length; length++) {
      expect(open("A".repeat(26), sealed.subarray(0, length), context)).toBeNull();
    }
    expect(() => seal("A".repeat(26), payload, context, random.subarray(1))).toThrow(RangeError);
  });
});

describe("reports", () => {
  const good = {
    mac: "52:54:00:12:34:56",
    lldp: "AYDCAAAO",
    hookosVersion: "0.11.0",
    commandLine: "console=ttyS0 fleet_url=http://192.0.2.1",
    clock: "2026-11-29T20:00:00Z",
    uuid: "133668af-1639-5aea-917e-7fa2e93b25e8",
    surplus: true,
  };
  const bytes = (value: unknown) => text(JSON.stringify(value));
  test("every field, and unknown ones ignored", () => {
    const { surplus: _, lldp, ...others } = good;
    expect(readReport(bytes(good))).toEqual({ ...others, lldp: new Uint8Array(Buffer.from(lldp, "base64")) });
    expect(readReport(bytes({ ...good, lldp: null })).lldp).toBeNull();
    expect(readCommandLine(bytes({ commandLine: "a b" }))).toBe("a b");
  });
  const bad: [string, unknown][] = [
    ["no object", []],
    ["no MAC", { ...good, mac: undefined }],
    ["a MAC in capitals", { ...good, mac: "52:54:00:AB:34:56" }],
    ["an LLDP frame that is no base64", { ...good, lldp: "?" }],
    ["no LLDP field", { ...good, lldp: undefined }],
    ["a number for a text", { ...good, commandLine: 1 }],
    ["a text without end", { ...good, hookosVersion: "x".repeat(5000) }],
    ["a clock that is none", { ...good, clock: "now" }],
    ["a UUID in capitals", { ...good, uuid: good.uuid.toUpperCase() }],
  ];
  test.each(bad)("refused: %s", (_, value) => expect(refusedAs(() => readReport(bytes(value)))).toBe("inconsistent"));
  test("refused: no JSON, no UTF-8", () => {
    expect(refusedAs(() => readReport(text("{")))).toBe("inconsistent");
    expect(refusedAs(() => readReport(Uint8Array.of(0xff)))).toBe("inconsistent");
  });
});

test("hex and base64 are read as the protocol writes them, or not at all", () => {
  expect(fromHex("00ff")).toEqual(Uint8Array.of(0, 255));
  expect([fromHex("0"), fromHex("0g")]).toEqual([null, null]);
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  expect(fromBase64(toBase64(all))).toEqual(all);
  expect(["AA", "A===", "AA=A", "AA-_"].map(fromBase64)).toEqual([null, null, null, null]);
});

test("no code is listed twice", () => expect(new Set(REFUSAL_CODES).size).toBe(REFUSAL_CODES.length));
