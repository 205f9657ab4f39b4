import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  nodeCertificateKind,
  nodeCertificateProblem,
  nodeSubject,
  readShownCertificate,
  recordedCertificate,
} from "../../../shared/attest/node-certificate.ts";
import type { Certificate } from "../../../shared/formats/x509/certificate.ts";

const SUBJECT = "/CN=w1.0123456789abcdef/serialNumber=SN0001";
const LDEVID = [
  "basicConstraints=critical,CA:false",
  "keyUsage=critical,digitalSignature",
  "extendedKeyUsage=clientAuth",
  "certificatePolicies=2.23.133.11.1.1,2.23.133.11.1.2",
];
const LAK = [
  ...LDEVID.slice(0, 2),
  "extendedKeyUsage=2.23.133.8.3",
  "certificatePolicies=2.23.133.11.1.1,2.23.133.11.1.3",
];
/** A minute on: openssl begins a certificate at the second in which it was asked. */
const nowMs = Date.now() + 60_000;

let folder = "";
const at = (file: string) => join(folder, file);
const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });

interface Order {
  readonly extensions?: readonly string[];
  readonly by?: string;
  readonly subject?: string;
  readonly curve?: string;
  readonly days?: string;
}

/** A certificate that openssl issues: another writer than ours. */
function pemOf({
  extensions = LDEVID,
  by = "ca",
  subject = SUBJECT,
  curve = "P-256",
  days = "10",
}: Order = {}): string {
  openssl(
    "req",
    "-new",
    "-newkey",
    "ec",
    "-pkeyopt",
    `ec_paramgen_curve:${curve}`,
    "-nodes",
    "-keyout",
    "leaf.key",
    "-subj",
    subject,
    "-out",
    "leaf.csr",
  );
  writeFileSync(at("leaf.ext"), extensions.join("\n"));
  const issuer = ["-CA", `${by}.pem`, "-CAkey", `${by}.key`, "-CAcreateserial"];
  openssl("x509", "-req", "-in", "leaf.csr", ...issuer, "-days", days, "-extfile", "leaf.ext", "-out", "leaf.pem");
  return readFileSync(at("leaf.pem"), "utf8");
}

function read(order?: Order): Certificate {
  const certificate = readShownCertificate(pemOf(order));
  if (certificate === null) throw new Error("no certificate");
  return certificate;
}

function authority(name: string, subject: string, extensions = "keyUsage=critical,keyCertSign"): Uint8Array {
  openssl(
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:P-256",
    "-nodes",
    "-keyout",
    `${name}.key`,
    "-subj",
    subject,
    "-addext",
    extensions,
    "-days",
    "30",
    "-out",
    `${name}.pem`,
  );
  return new Uint8Array(openssl("x509", "-in", `${name}.pem`, "-outform", "DER"));
}

let trusted: Uint8Array[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetd-node-certificate-"));
  trusted = [authority("other", "/CN=Current issuer"), authority("ca", "/CN=Older issuer")];
  authority("twin", "/CN=Older issuer");
  authority("server", "/CN=A server", "basicConstraints=critical,CA:false");
});
afterAll(() => rmSync(folder, { recursive: true }));

const problem = (order: Order, kind: "ldevid" | "lak" = "ldevid", issuers = trusted, atMs = nowMs) =>
  nodeCertificateProblem(kind, read(order), issuers, atMs);

describe("a node's certificate", () => {
  it("of any trusted issuer, as openssl writes it, is one; its kind is its purpose's", () => {
    expect(problem({})).toBeNull();
    expect(problem({ by: "other" })).toBeNull();
    expect(problem({ extensions: LAK }, "lak")).toBeNull();
    expect(problem({ curve: "P-384" })).toBeNull();
    expect(nodeCertificateKind(read())).toBe("ldevid");
    expect(nodeCertificateKind(read({ extensions: LAK }))).toBe("lak");
    expect(nodeCertificateKind(read({ extensions: ["extendedKeyUsage=serverAuth"] }))).toBeNull();
    expect(nodeCertificateKind(read({ extensions: ["extendedKeyUsage=clientAuth,2.23.133.8.3"] }))).toBeNull();
    expect(nodeCertificateKind(read({ extensions: ["subjectKeyIdentifier=hash"] }))).toBeNull();
  });

  it.each<[string, Order, RegExp]>([
    ["of an issuer that nobody trusts", { by: "server" }, /^its issuer is not trusted: CN=A server$/],
    ["of another issuer of that name", { by: "twin" }, /^its signature is not of CN=Older issuer$/],
    ["of a key that no TPM here has", { curve: "P-521" }, /^a key that no TPM here has$/],
    ["of a CA", { extensions: ["basicConstraints=critical,CA:true", ...LDEVID.slice(1)] }, /^a CA's certificate$/],
    [
      "not for signatures",
      { extensions: ["keyUsage=critical,keyAgreement", ...LDEVID.slice(2)] },
      /^not for signatures/,
    ],
    ["without key usage", { extensions: LDEVID.slice(2) }, /^not for signatures/],
    ["of another purpose", { extensions: LAK }, /^no ldevid/],
    ["without purposes", { extensions: [LDEVID[1] ?? "", LDEVID[3] ?? ""] }, /^no ldevid/],
    ["without policies", { extensions: LDEVID.slice(0, 3) }, /^without the policies 2.23.133.11.1.1, 2.23.133.11.1.2$/],
    [
      "with the policies of a LAK",
      { extensions: [...LDEVID.slice(0, 3), LAK[3] ?? ""] },
      /^without the policies 2.23.133.11.1.2$/,
    ],
  ])("%s is none", (_which, order, why) => {
    expect(problem(order)).toMatch(why);
  });

  it("is none before and after its time, or its issuer's", () => {
    expect(problem({}, "ldevid", trusted, nowMs + 11 * 86_400_000)).toMatch(/^not valid now: .*CN=w1/);
    expect(problem({}, "ldevid", trusted, nowMs - 86_400_000)).toMatch(/^not valid now: .*CN=w1/);
    expect(problem({ days: "60" }, "ldevid", trusted, nowMs + 40 * 86_400_000)).toBe("not valid now: CN=Older issuer");
  });

  it("of an issuer that is no CA is none, though it is listed", () => {
    const server = new Uint8Array(openssl("x509", "-in", "server.pem", "-outform", "DER"));
    expect(problem({ by: "server" }, "ldevid", [server])).toBe("its issuer is not a CA");
  });

  it("names node and chassis once each", () => {
    expect(nodeSubject(read())).toEqual({ commonName: "w1.0123456789abcdef", chassisSerial: "SN0001" });
    expect(nodeSubject(read({ subject: "/CN=w1" }))).toBeNull();
    expect(nodeSubject(read({ subject: "/CN=w1/CN=w2/serialNumber=SN0001" }))).toBeNull();
    expect(nodeSubject(read({ subject: "/CN=w1+CN=w2/serialNumber=SN0001" }))).toBeNull();
  });

  it("is recorded as openssl names it", () => {
    const certificate = read();
    const said = openssl("x509", "-in", "leaf.pem", "-noout", "-serial", "-enddate").toString();
    const { serialNumber, notAfterMs } = recordedCertificate(certificate);
    expect(said).toContain(`serial=${serialNumber.toUpperCase()}`);
    expect(said).toContain(`notAfter=`);
    expect(Date.parse(/notAfter=(.*)/.exec(said)?.[1] ?? "")).toBe(notAfterMs);
  });
});

describe("what is shown", () => {
  it("may be PEM with its chain, or base64 of DER", () => {
    const pem = pemOf();
    const der = Buffer.from(pem.split("-----")[2] ?? "", "base64");
    const chained = `Bag Attributes\n${pem}${readFileSync(at("ca.pem"), "utf8")}`;
    for (const text of [pem, chained, der.toString("base64"), `${der.toString("base64")}\n`])
      expect(Buffer.from(readShownCertificate(text)?.raw ?? []).equals(der)).toBe(true);
  });

  it("is none of anything else", () => {
    const der = Buffer.from(pemOf().split("-----")[2] ?? "", "base64");
    const cut = der.subarray(0, -1).toString("base64");
    for (const text of [
      "",
      "x",
      "AAAA",
      cut,
      "-----BEGIN CERTIFICATE-----",
      "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----",
    ])
      expect(readShownCertificate(text)).toBeNull();
    const longer = Buffer.concat([der, Buffer.of(0)]).toString("base64");
    expect(readShownCertificate(longer)).toBeNull();
  });
});
