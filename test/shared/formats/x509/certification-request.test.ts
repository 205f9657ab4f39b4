import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FormatError } from "../../../../shared/formats/error.ts";
import {
  readCertificationRequest,
  writeCertificationRequest,
  writeCertificationRequestInfo,
} from "../../../../shared/formats/x509/certification-request.ts";

/** The PKCS#10 of a captured CertificateSigningRequest. */
function captured(file: string): Uint8Array {
  const { body } = JSON.parse(readFileSync(`test/vectors/kubernetes/${file}.json`, "utf8"));
  const pem = Buffer.from(body.spec.request, "base64").toString();
  return Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
}

const kubelet = captured("csr-pending");

describe("readCertificationRequest", () => {
  it("reads every field of the real kubelet's", () => {
    const { spki, signed, untrustedSignature, ...fields } = readCertificationRequest(kubelet);
    expect(fields).toEqual({
      commonName: "system:node:w1",
      organizations: ["system:nodes"],
      otherSubject: false,
      hasSan: false,
      keyType: "EC",
    });
    expect(createHash("sha256").update(spki).digest("hex")).toBe(
      "4960bdcb30d272c693d0fba0f893d36831d162be77e731e513973295f6b551d4",
    );
    const key = createPublicKey({ key: Buffer.from(spki), type: "spki", format: "der" });
    expect(verify("sha256", signed, key, untrustedSignature)).toBe(true);
  });

  it("sees a SAN, an organization more, and another name", () => {
    expect(readCertificationRequest(captured("csr-san-create")).hasSan).toBe(true);
    expect(readCertificationRequest(captured("csr-extra-org-get")).organizations).toEqual([
      "system:nodes",
      "system:masters",
    ]);
    expect(readCertificationRequest(captured("csr-other-name-get")).commonName).toBe("system:node:cp1");
  });

  it("refuses every prefix, and bytes behind it", () => {
    for (let length = 0; length < kubelet.length; length += 1) {
      expect(() => readCertificationRequest(kubelet.subarray(0, length))).toThrow(FormatError);
    }
    expect(() => readCertificationRequest(Buffer.concat([kubelet, Buffer.of(0)]))).toThrow("trailing");
  });

  it("answers a flipped bit with a FormatError or other fields, never with another error", () => {
    for (let bit = 0; bit < kubelet.length * 8; bit += 1) {
      const flipped = Uint8Array.from(kubelet);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      try {
        readCertificationRequest(flipped);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }
  });

  it("reads what was written, and writes what was read", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const spki = publicKey.export({ type: "spki", format: "der" });
    const subject = { organizations: ["system:nodes"], commonName: "system:node:w7" };
    const info = writeCertificationRequestInfo(subject, spki);
    const read = readCertificationRequest(writeCertificationRequest(info, sign("sha256", info, privateKey)));
    expect(read).toMatchObject({ ...subject, otherSubject: false, hasSan: false, keyType: "EC" });
    expect(Buffer.from(read.spki)).toEqual(spki);
    const { commonName, organizations, spki: key, signed, untrustedSignature } = readCertificationRequest(kubelet);
    const again = writeCertificationRequestInfo({ commonName, organizations }, key);
    expect(Buffer.from(again)).toEqual(Buffer.from(signed));
    expect(Buffer.from(writeCertificationRequest(again, untrustedSignature))).toEqual(Buffer.from(kubelet));
  });

  it("marks a subject without a name, with two, and with an empty one", () => {
    const { spki } = readCertificationRequest(kubelet);
    const subject = (organizations: string[], commonName: string) => {
      const info = writeCertificationRequestInfo({ organizations, commonName }, spki);
      return readCertificationRequest(writeCertificationRequest(info, Buffer.of(0)));
    };
    expect(subject([], "system:node:w1").otherSubject).toBe(false);
    expect(subject([""], "system:node:w1").otherSubject).toBe(true);
    expect(subject(["system:nodes"], "").otherSubject).toBe(true);
  });
});
