import { execFileSync } from "node:child_process";
import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { issueIdentity } from "../../shared/attest/issue.ts";
import { DEFAULT_DURATIONS } from "../../shared/fleet/limits.ts";
import { readCertificatePems } from "../../shared/formats/x509/pem.ts";
import { type IssuerFiles, KEY_KINDS, type KeyKind } from "./issuer-files.ts";
import type { MakeSigner } from "./signer.ts";
import { DEVICE_KEYS, type MadeKey, makeDeviceKey } from "./x509/device-keys.ts";
import { readByGo, WITH_GO } from "./x509/go.ts";
import { octets, part, readBySigstore, type SeenCertificate, subjectBySigstore } from "./x509/sigstore.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const sha256 = (...parts: readonly Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

// RFC 5280 and TCG, by number: nothing of fleetd's own table is used here.
const [SKI, KU, SAN, BC, CP, AKI, EKU] = [14, 15, 17, 19, 32, 35, 37].map((n) => `2.5.29.${n}`) as [
  ...[string, string, string, string, string, string, string],
];
const HARDWARE_MODULE_NAME = "1.3.6.1.5.5.7.8.4";
const RESIDENCY = "2.23.133.11.1.1";
const KINDS = {
  ldevid: { usage: "1.3.6.1.5.5.7.3.2", goUsage: "2", policies: [RESIDENCY, "2.23.133.11.1.2"] },
  lak: { usage: "2.23.133.8.3", goUsage: "2.23.133.8.3", policies: [RESIDENCY, "2.23.133.11.1.3"] },
} as const;
type Kind = keyof typeof KINDS;
const ALGORITHMS = {
  "ecdsa-sha256": { der: "300a06082a8648ce3d040302", go: "ECDSA-SHA256" },
  "ecdsa-sha384": { der: "300a06082a8648ce3d040303", go: "ECDSA-SHA384" },
  "rsa-sha256": { der: "300d06092a864886f70d01010b0500", go: "SHA256-RSA" },
} as const;

/** Two EKs whose digests stand in the wrong order, so that a missing sort shows. */
const EKS = [sha256(Buffer.from("ek 1")), sha256(Buffer.from("ek 2"))].sort(Buffer.compare).reverse();
const TPM = sha256(...[...EKS].sort(Buffer.compare));

/**
 * Every sentence of "Certificates issued", for certificates that a back end signed, by readers that are not fleetd's.
 * @see spec/20-verification.md; IEEE 802.1AR-2018 section 8; TCG TPM 2.0 Keys for Device Identity and Attestation 8
 */
export function issuedContract(files: () => IssuerFiles, make: MakeSigner): void {
  describe.each(KEY_KINDS)("certificates of an issuer with a key of the kind $name", (issuer) => {
    describe.each(DEVICE_KEYS)("for keys of the kind %s", (deviceKey) => {
      // An hour on: five minutes before now, the issuer's own certificate was valid too.
      const nowMs = Date.now() + HOUR_MS;
      const made = new Map<Kind, MadeKey>();
      const ders = new Map<Kind, Uint8Array>();
      const seen = new Map<Kind, SeenCertificate>();
      const name = (kind: Kind) => `${issuer.name}-${deviceKey}-${kind}`;
      const issuerPem = () => readFileSync(files().at(`${issuer.name}.pem`), "utf8");

      beforeAll(async () => {
        made.set("ldevid", makeDeviceKey(deviceKey, false));
        made.set("lak", makeDeviceKey(deviceKey, true));
        const issued = await issueTo(files, make, issuer, made, nowMs, HOUR_MS);
        for (const kind of ["ldevid", "lak"] as const) {
          const [der = new Uint8Array(0), ...chain] = readCertificatePems(issued[`${kind}Pem`]);
          expect(chain.map(hex)).toEqual([hex(new X509Certificate(issuerPem()).raw)]);
          ders.set(kind, der);
          writeFileSync(files().at(`${name(kind)}.der`), der);
          files().openssl("x509", "-inform", "DER", "-in", `${name(kind)}.der`, "-out", `${name(kind)}.pem`);
          seen.set(kind, readBySigstore(der, issuerPem()));
        }
      });

      it.each(["ldevid", "lak"] as const)("%s: openssl's strict verification", (kind) => {
        const at = (ms: number, ...how: string[]) =>
          verifies(files(), issuer, `${name(kind)}.pem`, ["-attime", String(Math.floor(ms / 1000)), ...how]);
        const verify = (...how: string[]) => at(nowMs, ...how);
        const [residency, own] = KINDS[kind].policies;
        const other = KINDS[kind === "ldevid" ? "lak" : "ldevid"].policies[1];
        expect(verify("-purpose", "any")).toBe(true);
        expect(verify("-purpose", "sslclient")).toBe(kind === "ldevid");
        expect(verify("-purpose", "sslserver")).toBe(false);
        expect(verify("-policy", residency, "-explicit_policy")).toBe(true);
        expect(verify("-policy", own, "-explicit_policy")).toBe(true);
        expect(verify("-policy", other, "-explicit_policy")).toBe(false);
        expect([at(nowMs - 5 * MINUTE_MS), at(nowMs - 5 * MINUTE_MS - 2000)]).toEqual([true, false]);
        expect([at(nowMs + HOUR_MS - 2000), at(nowMs + HOUR_MS + 2000)]).toEqual([true, false]);
      });

      it.each(["ldevid", "lak"] as const)("%s: openssl's text and structure", (kind) => {
        const text = files().openssl("x509", "-in", `${name(kind)}.pem`, "-noout", "-text", "-nameopt", "RFC2253");
        expect(text).toContain(`Subject: serialNumber=CH4-77,CN=node-7.${hex(TPM).slice(0, 16)}`);
        expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
        expect(text).toMatch(/Key Usage: critical\s+Digital Signature\n/);
        expect(text.match(/critical/g)?.length).toBe(2);
        const structure = files().openssl("asn1parse", "-inform", "DER", "-in", `${name(kind)}.der`, "-i");
        expect(structure).not.toMatch(/Error|BAD (OBJECT|INTEGER)|l=inf/);
        expect(structure).toMatch(/PRINTABLESTRING\s+:CH4-77/);
        expect(structure).toMatch(/UTF8STRING\s+:node-7\./);
        expect(structure.match(/UTCTIME/g)?.length).toBe(2);
        expect(structure).toContain("[HEX DUMP]:03020780");
      });

      it.each(["ldevid", "lak"] as const)("%s: every field, by @sigstore/core", (kind) => {
        const read = got(seen, kind);
        expect(read.signedBy).toBe(true);
        expect(read.version).toBe(3);
        expect(read.serial).toMatch(/^[4-7][0-9a-f]{39}$/);
        expect(read.algorithms).toEqual([ALGORITHMS[issuer.algorithm].der, ALGORITHMS[issuer.algorithm].der]);
        expect(read.issuer).toBe(subjectBySigstore(issuerPem()));
        expect(read.subject).toEqual([
          ["2.5.4.3", 0x0c, `node-7.${hex(TPM).slice(0, 16)}`],
          ["2.5.4.5", 0x13, "CH4-77"],
        ]);
        const second = (ms: number) => Math.floor(ms / 1000) * 1000;
        expect(read.validity).toEqual([
          { tag: 0x17, ms: second(nowMs - 5 * MINUTE_MS) },
          { tag: 0x17, ms: second(nowMs + HOUR_MS) },
        ]);
        expect(read.spki).toBe(hex(got(made, kind).spki));
        expect([...read.order].sort()).toEqual([SKI, KU, SAN, BC, CP, AKI, EKU].sort());
        expect(read.order.filter((oid) => read.extensions[oid]?.critical)).toEqual([BC, KU]);
        const value = (oid: string) => part(read.extensions[oid]?.value);
        // CA FALSE is the default, which DER leaves out; one used bit, seven unused ones.
        expect(hex(value(BC).toDER())).toBe("3000");
        expect(hex(value(KU).toDER())).toBe("03020780");
        expect(value(EKU).subs.map((one) => one.toOID())).toEqual([KINDS[kind].usage]);
        expect(value(CP).subs.map((one) => [one.subs.length, part(one, 0).toOID()])).toEqual(
          KINDS[kind].policies.map((policy) => [1, policy]),
        );
      });

      it.each(["ldevid", "lak"] as const)("%s: names and key identifiers, by @sigstore/core", (kind) => {
        const read = got(seen, kind);
        const names = part(read.extensions[SAN]?.value).subs;
        expect(names.map((one) => one.tag.number)).toEqual([6, 0]);
        expect(names[0]?.value.toString()).toBe("spiffe://fleet.example/node/node-7");
        expect(part(names[1], 0).toOID()).toBe(HARDWARE_MODULE_NAME);
        const module = part(names[1], 1, 0);
        expect([module.subs.length, part(module, 0).toOID(), hex(octets(part(module, 1)))]).toEqual([
          ...[2, "2.23.133.1.2", hex(TPM)],
        ]);
        // RFC 7093 section 2, method 1: the leftmost 160 bits of SHA-256 over the BIT STRING's contents.
        const { spki } = got(made, kind);
        expect(hex(octets(part(read.extensions[SKI]?.value)))).toBe(hex(sha256(keyBits(spki)).subarray(0, 20)));
        const authority = part(read.extensions[AKI]?.value).subs;
        expect(authority.map((one) => [one.tag.number, hex(one.value)])).toEqual([[0, issuerKeyId(files(), issuer)]]);
      });

      // One that is left out is not skipped: infra/tools/test.mjs has said so.
      const withGo = WITH_GO ? it : (_title: string, _test: () => void, _timeoutMs: number) => undefined;
      withGo(
        "Go's crypto/x509 reads the same and verifies them as SPIRE does",
        () => {
          const kinds = ["ldevid", "lak"] as const;
          const paths = kinds.map((kind) => files().at(`${name(kind)}.der`));
          const read = readByGo(files().folder, files().at(`${issuer.name}.pem`), paths);
          expect(read).toEqual(
            kinds.map((kind) => {
              const other = got(seen, kind);
              return {
                version: 3,
                serial: other.serial,
                serialSign: 1,
                subject: [`2.5.4.3=node-7.${hex(TPM).slice(0, 16)}`, "2.5.4.5=CH4-77"],
                issuer: other.issuer,
                algorithm: ALGORITHMS[issuer.algorithm].go,
                spki: hex(got(made, kind).spki),
                uris: ["spiffe://fleet.example/node/node-7"],
                names: 0,
                otherName: [HARDWARE_MODULE_NAME, "2.23.133.1.2", hex(TPM)],
                keyUsage: 1,
                usages: [KINDS[kind].goUsage],
                policies: KINDS[kind].policies,
                basicConstraints: true,
                ca: false,
                extensions: other.order,
                critical: [BC, KU],
                unhandled: 0,
                ski: hex(sha256(keyBits(got(made, kind).spki)).subarray(0, 20)),
                aki: issuerKeyId(files(), issuer),
                notBefore: other.validity[0]?.ms,
                notAfter: other.validity[1]?.ms,
                any: "ok",
                client: kind === "ldevid" ? "ok" : expect.stringContaining("incompatible key usage"),
              };
            }),
          );
          // The first builds the reader, and all of Go's library where its cache is empty.
        },
        300_000,
      );

      it("never two serial numbers alike, and a year is cut to the issuer's end", async () => {
        expect(got(seen, "ldevid").serial).not.toBe(got(seen, "lak").serial);
        expect([DEFAULT_DURATIONS.identityMs, DEFAULT_DURATIONS.visitIdentityMs]).toEqual([365 * DAY_MS, HOUR_MS]);
        const long = await issueTo(files, make, issuer, made, nowMs, DEFAULT_DURATIONS.identityMs);
        const [der = new Uint8Array(0)] = readCertificatePems(long.ldevidPem);
        const read = readBySigstore(der, issuerPem());
        expect(read.validity[1]?.ms).toBe(new X509Certificate(issuerPem()).validToDate.getTime());
        expect(read.serial).not.toBe(got(seen, "ldevid").serial);
      });
    });
  });
}

function got<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new Error("was not issued");
  return value;
}

async function issueTo(
  files: () => IssuerFiles,
  make: MakeSigner,
  issuer: KeyKind,
  made: ReadonlyMap<Kind, MadeKey>,
  nowMs: number,
  lifetimeMs: number,
) {
  const queue = { concurrency: 1, maxWaiting: 10, waitMs: 20_000 };
  const signer = await make(issuer, { chainFile: files().at(`${issuer.name}.pem`) }, queue);
  return issueIdentity(signer, {
    deviceName: "node-7",
    chassisSerial: "CH4-77",
    trustDomain: "fleet.example",
    approvedEks: EKS.map((digest) => `sha256:${hex(digest)}`),
    ldevid: got(made, "ldevid").area,
    lak: got(made, "lak").area,
    nowMs,
    lifetimeMs,
    random: (count) => new Uint8Array(randomBytes(count)),
  });
}

function verifies(files: IssuerFiles, issuer: KeyKind, certificate: string, how: readonly string[]): boolean {
  try {
    const strict = ["verify", "-x509_strict", "-policy_check", "-CAfile", `${issuer.name}.pem`];
    execFileSync("openssl", [...strict, ...how, certificate], { cwd: files.folder, stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

/** subjectPublicKey's contents, of a SubjectPublicKeyInfo: AlgorithmIdentifier, then BIT STRING without unused bits. */
function keyBits(spki: Buffer): Buffer {
  const length = spki.length > 256 ? 4 : 2;
  const algorithm = spki.subarray(length);
  const bits = algorithm.subarray(2 + (algorithm[1] ?? 0));
  return bits.subarray(((bits[1] ?? 0) < 0x80 ? 2 : 2 + ((bits[1] ?? 0) & 0x7f)) + 1);
}

function issuerKeyId(files: IssuerFiles, { name }: KeyKind): string {
  const text = files.openssl("x509", "-in", `${name}.pem`, "-noout", "-ext", "subjectKeyIdentifier");
  return (text.split("\n")[1] ?? "").trim().replaceAll(":", "").toLowerCase();
}
