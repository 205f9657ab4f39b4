import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  certificateFingerprint,
  certificateToSign,
  type IssueInput,
  nodeCommonName,
  signedCertificate,
} from "../../../shared/attest/certificates.ts";
import { ekDigest, readPublic } from "../../../shared/attest/keys.ts";
import { readCertificate } from "../../../shared/formats/x509/certificate.ts";
import { certificatePem, readCertificatePems } from "../../../shared/formats/x509/pem.ts";
import { hex, vector } from "../../vectors/read.ts";

const nowMs = Date.now();
const yearMs = 365 * 86_400_000;
const areas = ["ek.pub.tpm2b", "ek-ecc.pub.tpm2b"].map((file) => readPublic(vector(`vm/lab-sb-on/${file}`)));
const approvedEks = areas.map(ekDigest);
let folder = "";
let input: IssueInput;
let ldevid: Uint8Array;
let lak: Uint8Array;

function openssl(...args: string[]): string {
  return execFileSync("openssl", args, { encoding: "utf8" });
}

const at = (file: string): string => join(folder, file);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetd-certificates-"));
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(at("ca.key"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  openssl(
    "req",
    "-x509",
    "-new",
    "-key",
    at("ca.key"),
    "-subj",
    "/O=fleetd test/CN=fleetd test CA",
    "-addext",
    "keyUsage=critical,keyCertSign",
    "-days",
    "30",
    "-out",
    at("ca.pem"),
  );
  const issuer = new X509Certificate(execFileSync("openssl", ["x509", "-in", at("ca.pem")]));
  input = {
    deviceName: "node-7",
    chassisSerial: "CH4-77",
    trustDomain: "fleet.example",
    approvedEks,
    publicArea: readPublic(vector("vm/lab-sb-on/ldevid.pub.tpm2b")),
    issuer: { certificate: new Uint8Array(issuer.raw), algorithm: "ecdsa-sha256" },
    nowMs,
    lifetimeMs: 7 * 86_400_000,
    serialNumber: new Uint8Array(20).fill(0xff),
  };
  const issue = (kind: "ldevid" | "lak", publicArea: IssueInput["publicArea"]): Uint8Array => {
    const tbs = certificateToSign(kind, { ...input, publicArea });
    return signedCertificate(tbs, "ecdsa-sha256", new Uint8Array(sign("sha256", tbs, privateKey)));
  };
  ldevid = issue("ldevid", input.publicArea);
  lak = issue("lak", readPublic(vector("vm/lab-sb-on/ak.pub.tpm2b")));
  writeFileSync(at("ldevid.pem"), certificatePem(ldevid));
  writeFileSync(at("lak.pem"), certificatePem(lak));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function digestOfEks(): string {
  const sorted = approvedEks.map((one) => one.slice(7)).sort();
  return createHash("sha256")
    .update(Buffer.from(sorted.join(""), "hex"))
    .digest("hex");
}

describe("openssl reads and accepts the pair", () => {
  test("both chain to their issuer", () => {
    expect(openssl("verify", "-x509_strict", "-CAfile", at("ca.pem"), at("ldevid.pem"), at("lak.pem"))).toMatch(
      /ldevid\.pem: OK\n.*lak\.pem: OK/,
    );
    expect(openssl("verify", "-purpose", "sslclient", "-CAfile", at("ca.pem"), at("ldevid.pem"))).toMatch(/OK/);
  });

  test("the LDevID's text", () => {
    const text = openssl("x509", "-in", at("ldevid.pem"), "-noout", "-text", "-nameopt", "RFC2253");
    expect(text).toContain(`Subject: serialNumber=CH4-77,CN=node-7.${digestOfEks().slice(0, 16)}`);
    expect(text).toContain("Issuer: CN=fleetd test CA,O=fleetd test");
    expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
    expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/Extended Key Usage: \n\s+TLS Web Client Authentication\n/);
    expect(text).toMatch(/Certificate Policies: \n\s+Policy: 2\.23\.133\.11\.1\.1\n\s+Policy: 2\.23\.133\.11\.1\.2\n/);
    expect(text).toMatch(/Subject Alternative Name: \n\s+URI:spiffe:\/\/fleet\.example\/node\/node-7, othername:/);
    expect(text).toMatch(/Subject Key Identifier: \n\s+[0-9A-F:]{59}\n/);
    expect(text.match(/critical/g)?.length).toBe(2);
  });

  test("the LAK's purpose and policies", () => {
    const text = openssl("x509", "-in", at("lak.pem"), "-noout", "-text");
    expect(text).toMatch(/Extended Key Usage: \n\s+2\.23\.133\.8\.3\n/);
    expect(text).toMatch(/Certificate Policies: \n\s+Policy: 2\.23\.133\.11\.1\.1\n\s+Policy: 2\.23\.133\.11\.1\.3\n/);
    expect(text.match(/critical/g)?.length).toBe(2);
  });

  test("the key identifiers are one another's", () => {
    const [own, authority] = ["subjectKeyIdentifier", "authorityKeyIdentifier"].map((name) =>
      openssl("x509", "-in", at(name.startsWith("subject") ? "ca.pem" : "ldevid.pem"), "-noout", "-ext", name)
        .split("\n")[1]
        ?.replace(/keyid:/, "")
        .trim(),
    );
    expect(authority).toBe(own);
  });

  test("the HardwareModuleName names a TPM, and this one", () => {
    // id-on-hardwareModuleName, then hwType 2.23.133.1.2.
    expect(hex(ldevid)).toContain("06082b06010505070804");
    expect(hex(ldevid)).toContain("06056781050102");
    expect(hex(ldevid)).toContain(`0420${digestOfEks()}`);
  });
});

test("the certificate reads back as what was asked for", () => {
  const read = readCertificate(ldevid);
  const node = new X509Certificate(ldevid);
  expect(read.subjectText).toBe(`SERIALNUMBER=CH4-77,CN=${nodeCommonName("node-7", approvedEks)}`);
  expect([read.notBeforeMs, read.notAfterMs]).toEqual([node.validFromDate.getTime(), node.validToDate.getTime()]);
  expect(read.notBeforeMs).toBe(Math.floor((nowMs - 5 * 60_000) / 1000) * 1000);
  expect(read.serialNumber.length).toBe(20);
  expect((read.serialNumber[0] ?? 0) & 0x80).toBe(0);
  expect(certificateFingerprint(ldevid)).toBe(node.fingerprint256.replaceAll(":", "").toLowerCase());
  expect(read.publicKey).toEqual(expect.objectContaining({ type: "ec", curve: "P-256" }));
});

test("no certificate outlives its issuer", () => {
  const tbs = certificateToSign("ldevid", { ...input, lifetimeMs: yearMs });
  const read = readCertificate(signedCertificate(tbs, "ecdsa-sha256", Uint8Array.of(0x30, 0)));
  expect(read.notAfterMs).toBe(readCertificate(input.issuer.certificate).notAfterMs);
});

test("the CN is the same in whatever order the EKs are approved", () => {
  expect(nodeCommonName("a", [...approvedEks].reverse())).toBe(nodeCommonName("a", approvedEks));
});

test("a serial number that is too short is refused", () => {
  expect(() => certificateToSign("lak", { ...input, serialNumber: new Uint8Array(8) })).toThrow(RangeError);
});

test("PEM is written as it is read", () => {
  expect(readCertificatePems(`${certificatePem(ldevid)}text\n${certificatePem(lak)}`)).toEqual([ldevid, lak]);
});
