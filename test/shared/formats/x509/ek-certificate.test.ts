import { createHash, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ekChain, readEkRoots } from "../../../../shared/attest/ek-chain.ts";
import { keyDigest } from "../../../../shared/attest/keys.ts";
import { der, TAG } from "../../../../shared/formats/der.ts";
import { sequence } from "../../../../shared/formats/der-write.ts";
import { basicConstraints } from "../../../../shared/formats/x509/certificate.ts";
import { readEkCertificate } from "../../../../shared/formats/x509/ek-certificate.ts";
import { OID } from "../../../../shared/formats/x509/oids.ts";
import { readCertificatePems } from "../../../../shared/formats/x509/pem.ts";
import { hex, vector, vectorJson, vectorText } from "../../../vectors/read.ts";
import { refusedAs } from "../five-parts.ts";

interface CertEntry {
  file: string;
  derOffset?: number;
  derLength?: number;
  trailingBytes?: number;
  sha256OfDer?: string;
  expect?: string;
  opensslChain?: string;
  node?: { validTo: string | null; serial: string | null; eku: string[] | null };
  parsers: Record<string, string | null>;
}

const certs = vectorJson<{ certs: CertEntry[] }>("ekcerts/manifest.json").certs;
const readable = certs.filter((one) => one.file !== "synthetic-truncated.der");
const read = (file: string) => readEkCertificate(vector(`ekcerts/${file}`));
const nowMs = Date.parse("2026-11-29T00:00:00Z");
const roots = readEkRoots(
  ["tpm-roots.pem", "tpm-intermediates.pem"].flatMap((file) => readCertificatePems(vectorText(`ekcerts/ca/${file}`))),
);

test("a certificate cut short is refused", () => {
  expect(refusedAs(() => read("synthetic-truncated.der"))).toBe("truncated");
});

describe.each(readable.map((one) => [one.file, one] as const))("%s", (file, entry) => {
  const parsed = read(file);

  test("header and padding are cut, the bytes are as received", () => {
    if (entry.sha256OfDer === undefined) return expect(parsed.certificate.raw.length).toBeGreaterThan(0);
    expect(parsed.headerBytes).toBe(entry.derOffset);
    expect(parsed.paddingBytes).toBe(entry.trailingBytes);
    expect(createHash("sha256").update(parsed.certificate.raw).digest("hex")).toBe(entry.sha256OfDer);
  });

  test("the key's digest is that of the key alone", () => {
    const { publicKey, raw } = parsed.certificate;
    if (!publicKey) throw new Error("no key");
    // The RSA key as it stands in every one of these: a positive modulus and 65537.
    const bytes = Buffer.from(raw);
    if (publicKey.type === "rsa") {
      const size = publicKey.modulus.length;
      const integer = Buffer.concat([
        size === 128
          ? Buffer.from([0x02, 0x81, 0x81, 0])
          : Buffer.from([0x02, 0x82, (size + 1) >> 8, (size + 1) & 0xff, 0]),
        Buffer.from(publicKey.modulus),
        Buffer.from([0x02, 0x03, 0x01, 0x00, 0x01]),
      ]);
      expect(bytes.includes(integer)).toBe(true);
    }
    const kind = entry.parsers["node public key"];
    if (kind?.startsWith("rsa {") || kind?.startsWith("ec ")) {
      const spki = new X509Certificate(raw).publicKey.export({ type: "spki", format: "der" });
      expect(keyDigest(publicKey)).toBe(`sha256:${createHash("sha256").update(spki).digest("hex")}`);
    }
  });

  test("serial, dates and purposes are what node reads, where it reads any", () => {
    const { node } = entry;
    if (!node?.validTo) return expect(parsed.certificate.notAfterMs).toBeGreaterThan(parsed.certificate.notBeforeMs);
    expect(parsed.certificate.notAfterMs).toBe(Date.parse(node.validTo));
    expect(
      hex(parsed.certificate.serialNumber)
        ?.replace(/^(00)+/, "")
        .toUpperCase(),
    ).toBe(node.serial);
    expect(parsed.extendedKeyUsages).toEqual(node.eku);
  });

  test("whatever pads the index behind it is cut", () => {
    for (const octet of [0x00, 0x11, 0xff]) {
      const longer = Uint8Array.from([...parsed.certificate.raw, octet, octet]);
      expect(readEkCertificate(longer)).toEqual({ ...parsed, headerBytes: 0, paddingBytes: 2 });
    }
    const other = Uint8Array.from([...parsed.certificate.raw, 0x12, 0x34]);
    expect(refusedAs(() => readEkCertificate(other))).toBe("trailing");
  });
});

test("TPM attributes, in one RDN or in several, or none", () => {
  expect(read("infineon-slb9665-rsa2048.der").tpm).toEqual({
    manufacturer: "id:49465800",
    model: "SLB 9665",
    version: "id:053E",
  });
  expect(read("nuvoton-npct6xx-padded.der").tpm).toEqual({
    manufacturer: "id:4E544300",
    model: "NPCT6xx",
    version: "id:0581",
  });
  expect(read("synthetic-no-san.der").tpm).toEqual({ manufacturer: null, model: null, version: null });
  expect(read("synthetic-no-eku.der").extendedKeyUsages).toBeNull();
  expect(read("gcp-vtpm-rsa-enc.der").keyUsages).toEqual(["keyEncipherment"]);
});

test("the same key under two algorithm names has one digest", () => {
  const digests = ["stm-st33zp24-header-removed.der", "stm-st33zp24-nv-header.der"].map((file) => {
    const { publicKey } = read(file).certificate;
    return publicKey && keyDigest(publicKey);
  });
  expect(digests[0]).toBe(digests[1]);
});

describe("chains to manufacturers' roots, as openssl finds them", () => {
  const ek = (entry: CertEntry) => entry.opensslChain?.startsWith("OK") && !entry.file.startsWith("microsoft");
  test.each(certs.filter(ek).map((one) => one.file))("%s", (file) => {
    const chain = ekChain(read(file), roots, nowMs);
    expect([chain.ok, chain.problem]).toEqual([true, null]);
    expect(chain.path.length).toBeGreaterThanOrEqual(2);
  });
  test.each(["stm-st33zp24-b.der", "stm-st33zp24-c.der"])("%s, whose key openssl cannot read", (file) => {
    const inTime = Date.parse("2016-06-01T00:00:00Z");
    expect(ekChain(read(file), roots, nowMs).problem).toMatch(/^not valid now/);
    expect(ekChain(read(file), [], inTime).problem).toMatch(/^issuer not known/);
  });
});

describe("chains to the synthetic root", () => {
  const root = readEkRoots([vector("ekcerts/synthetic-root-ca.der")]);
  const problem = (file: string, authorities = root) => ekChain(read(file), authorities, nowMs).problem;
  test.each([
    "synthetic-rsa-good.der",
    "synthetic-serial-negative.der",
    "synthetic-control-good2.der",
    "synthetic-trailing-zero.der",
  ])("%s: whole", (file) => expect(problem(file)).toBeNull());
  test("a broken signature", () => expect(problem("synthetic-signature-broken.der")).toMatch(/^signature not of/));
  test("expired", () => expect(problem("synthetic-expired.der")).toMatch(/^not valid now/));
  test("no root", () => expect(problem("synthetic-rsa-good.der", [])).toMatch(/^issuer not known/));
  test("a CA that is none", () => {
    const [certificate] = root;
    if (!certificate) throw new Error("no root");
    expect(problem("synthetic-rsa-good.der", [{ ...certificate, extensions: [] }])).toMatch(/not a CA$/);
  });
  test("a certificate for signing", () => expect(problem("gcp-vtpm-rsa-sign-ak.der")).toBe("not for an EK (keyUsage)"));
  test("a certificate of another purpose", () =>
    expect(problem("hpe-test-iak.der")).toBe("not for an EK (extKeyUsage)"));
});

test("a path length of several octets is read whole, not by its last octet", () => {
  const constraints = (...octets: number[]) => {
    const value = sequence(der(TAG.BOOLEAN, Uint8Array.of(255)), der(TAG.INTEGER, Uint8Array.from(octets)));
    return basicConstraints({ oid: OID.basicConstraints, critical: true, value });
  };
  expect(constraints(1)).toEqual({ ca: true, pathLength: 1 });
  expect(constraints(1, 0)).toEqual({ ca: true, pathLength: 255 });
  expect(constraints(0)).toEqual({ ca: true, pathLength: 0 });
});
