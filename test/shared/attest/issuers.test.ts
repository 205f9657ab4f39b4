import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKeyFileSigner } from "../../../shared/adapters/ca/key-file.ts";
import { issueIdentity } from "../../../shared/attest/issue.ts";
import { readCertificatePems } from "../../../shared/formats/x509/pem.ts";
import { IssuerFiles } from "../../contracts/issuer-files.ts";
import { makeDeviceKey } from "../../contracts/x509/device-keys.ts";
import { part, readBySigstore, subjectBySigstore } from "../../contracts/x509/sigstore.ts";

const DAY_MS = 86_400_000;
const AKI = "2.5.29.35";
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
let files: IssuerFiles;

beforeAll(() => {
  files = new IssuerFiles();
  const self = (name: string, subject: string, days: number, ...more: string[]) =>
    files.openssl(
      ...["req", "-x509", "-new", "-key", "p256.key", "-out", `${name}.pem`, "-days", String(days), "-subj", subject],
      ...["-addext", "keyUsage=critical,keyCertSign", ...more],
    );
  self("no-ski", "/CN=No key identifier", 30, "-addext", "subjectKeyIdentifier=none");
  self("long", "/CN=Outlives the century's half", 20_000);
  self("odd", "/O=Ünïcode GmbH+OU=Zwei/DC=example/CN=Several values", 30, "-utf8", "-multivalue-rdn");
  const extensions = "basicConstraints=critical,CA:TRUE,pathlen:0\nsubjectKeyIdentifier=01:02:03:04:05:06\n";
  writeFileSync(files.at("below.cnf"), `${extensions}keyUsage=critical,keyCertSign\nauthorityKeyIdentifier=keyid\n`);
  files.openssl("req", "-new", "-key", "p384.key", "-subj", "/CN=Below", "-out", "below.csr");
  const by = ["-CA", "rsa.pem", "-CAkey", "rsa.key", "-extfile", "below.cnf", "-days", "20"];
  files.openssl("x509", "-req", "-in", "below.csr", ...by, "-out", "below-alone.pem");
  const text = (name: string) => readFileSync(files.at(`${name}.pem`), "utf8");
  writeFileSync(files.at("below.pem"), `${text("below-alone")}${text("rsa")}`);
});
afterAll(() => files.remove());

async function issue(
  key: string,
  chain: string,
  change: { nowMs?: number; lifetimeMs?: number; serial?: string } = {},
) {
  const signer = await createKeyFileSigner({ keyFile: files.at(`${key}.key`), chainFile: files.at(`${chain}.pem`) });
  const issued = await issueIdentity(signer, {
    deviceName: "a".repeat(40),
    chassisSerial: change.serial ?? "CH4-77",
    trustDomain: "fleet.example",
    approvedEks: [`sha256:${"ab".repeat(32)}`],
    ldevid: makeDeviceKey("p256", false).area,
    lak: makeDeviceKey("p256", true).area,
    nowMs: change.nowMs ?? Date.now(),
    lifetimeMs: change.lifetimeMs ?? DAY_MS,
    random: (count) => new Uint8Array(randomBytes(count)),
  });
  writeFileSync(files.at("leaf.pem"), issued.ldevidPem);
  const [leaf = new Uint8Array(0)] = readCertificatePems(issued.ldevidPem);
  return readBySigstore(
    leaf,
    readFileSync(files.at(`${chain}.pem`), "utf8").split(/(?<=END CERTIFICATE-----\n)/)[0] ?? "",
  );
}
const verify = (...how: string[]) => files.openssl("verify", ...how, "leaf.pem").trim();
const keyIdOf = (seen: Awaited<ReturnType<typeof issue>>) => hex(part(seen.extensions[AKI]?.value, 0).value);

it("an issuer without a key identifier: AKI by the same method as our SKI, and it verifies", async () => {
  const seen = await issue("p256", "no-ski");
  const jwk = new X509Certificate(readFileSync(files.at("no-ski.pem"))).publicKey.export({ format: "jwk" });
  const point = Buffer.concat([
    Buffer.of(4),
    Buffer.from(jwk.x ?? "", "base64url"),
    Buffer.from(jwk.y ?? "", "base64url"),
  ]);
  expect(keyIdOf(seen)).toBe(createHash("sha256").update(point).digest("hex").slice(0, 40));
  expect(verify("-CAfile", "no-ski.pem")).toBe("leaf.pem: OK");
});

it("an issuer below a root, with a key identifier of its own kind: the chain leads up", async () => {
  const seen = await issue("p384", "below");
  expect(keyIdOf(seen)).toBe("010203040506");
  expect(seen.signedBy).toBe(true);
  expect(verify("-x509_strict", "-purpose", "sslclient", "-CAfile", "rsa.pem", "-untrusted", "leaf.pem")).toMatch(
    /OK$/,
  );
});

it("an issuer's name of several values and letters stays byte for byte", async () => {
  const seen = await issue("p256", "odd");
  expect(seen.issuer).toBe(subjectBySigstore(readFileSync(files.at("odd.pem"), "utf8")));
  expect(verify("-x509_strict", "-CAfile", "odd.pem")).toBe("leaf.pem: OK");
});

it("from 2050 on, times are GeneralizedTime, before it UTCTime", async () => {
  const nowMs = Date.UTC(2049, 11, 31, 23, 0, 0);
  const seen = await issue("p256", "long", { nowMs });
  expect(seen.validity).toEqual([
    { tag: 0x17, ms: nowMs - 300_000 },
    { tag: 0x18, ms: nowMs + DAY_MS },
  ]);
  expect(verify("-x509_strict", "-CAfile", "long.pem", "-attime", String(nowMs / 1000 + 7200))).toBe("leaf.pem: OK");
});

it("the longest device name fits a CN, and a serial that is no PrintableString is UTF8String", async () => {
  const seen = await issue("p256", "p256", { serial: "VM_0001#a" });
  expect(seen.subject[0]?.[2].length).toBe(57);
  expect(seen.subject[1]).toEqual(["2.5.4.5", 0x0c, "VM_0001#a"]);
  expect(verify("-x509_strict", "-CAfile", "p256.pem")).toBe("leaf.pem: OK");
});
