import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { probeSigner } from "../../../shared/adapters/ca/checked.ts";
import type { Settings } from "../../../shared/runtime/config.ts";
import { openSigner } from "../../../shared/runtime/wire.ts";
import { type Check, failed, looked, ok, warning } from "./check.ts";
import { validityCheck } from "./times.ts";

const ISSUER_WARNING_DAYS = 180;
const RENEW = "renew it; fleetd reads it again by itself";

/** The certificates in fleetd's own files: names, chains, keys, expiry; and whether the issuer's key signs. */
export async function checkCertificates(s: Settings): Promise<Check[]> {
  const { FLEET_DEVICE_TLS_CERT: device, FLEET_DEVICE_TLS_KEY: deviceKey, FLEET_ADMIN_CA: adminCa } = s;
  const { FLEET_ADMIN_TLS_CERT: admin, FLEET_ADMIN_TLS_KEY: adminKey } = s;
  const { hostname } = new URL(s.FLEET_DEVICE_URL);
  return [
    ...(device === undefined || deviceKey === undefined
      ? [ok("device certificate", "none of fleetd's own: a proxy has it")]
      : await looked("device certificate", RENEW, async () => deviceChecks(device, deviceKey, hostname))),
    ...(admin === undefined || adminKey === undefined
      ? []
      : await looked("admin certificate", RENEW, async () => ownChecks("admin certificate", admin, adminKey))),
    ...(adminCa === undefined
      ? []
      : await looked("admin CA", "renew it", async () =>
          certificatesIn(adminCa).map((one) => validityCheck("admin CA", one)),
        )),
    ...(await looked("issuer", "see infra/docs/issuer.md", async () => issuerChecks(s))),
    ...(await looked("issuer key", "see infra/docs/issuer.md", async () => {
      const fault = await probeSigner(await openSigner(s));
      if (fault === null) return ok("issuer key", "signs, and fits the issuer's certificate");
      return failed("issuer key", fault, "see infra/docs/issuer.md");
    })),
  ];
}

function deviceChecks(certFile: string, keyFile: string, host: string): Check[] {
  const name = "device certificate";
  const chain = certificatesIn(certFile);
  const [leaf] = chain;
  const last = chain.at(-1);
  const isIp = /^\[|^[\d.]+$/.test(host);
  const named = isIp ? leaf?.checkIP(host.replace(/^\[|\]$/g, "")) : leaf?.checkHost(host);
  const roots = rootCertificates.map((pem) => new X509Certificate(pem));
  const isPublic = last !== undefined && roots.some((root) => last.checkIssued(root) && last.verify(root.publicKey));
  return [
    ...(named === undefined
      ? [failed(name, `is not for ${host}, the host of FLEET_DEVICE_URL`, "have one issued for that name")]
      : [ok(name, `is for ${host}`)]),
    ...(isPublic
      ? []
      : [
          warning(
            name,
            "its chain ends at no public root",
            "Talos trusts public roots alone before it has a configuration: have a public one issued, or Talos machines cannot fetch theirs",
          ),
        ]),
    ...ownChecks(name, certFile, keyFile),
  ];
}

function ownChecks(name: string, certFile: string, keyFile: string): Check[] {
  const chain = certificatesIn(certFile);
  const [leaf] = chain;
  if (leaf === undefined) return [];
  const fits = leaf.checkPrivateKey(createPrivateKey(readFileSync(keyFile)));
  return [
    ...(fits ? [] : [failed(name, `${keyFile} is not its key`, RENEW)]),
    ...brokenLinks(name, certFile, chain),
    validityCheck(name, leaf),
    // Of what issued it only what is amiss is told.
    ...chain
      .slice(1)
      .map((one, i) => validityCheck(`${name} (${i + 2} of its chain)`, one))
      .filter((one) => one.result !== "ok"),
  ];
}

function issuerChecks(s: Settings): Check[] {
  const chain = certificatesIn(s.FLEET_CA_CHAIN_FILE);
  const bundle = s.FLEET_CA_BUNDLE_FILE;
  const older = bundle === undefined ? [] : certificatesIn(bundle);
  const notCa = [...chain, ...older].filter((one) => !one.ca);
  return [
    ...notCa.map((one) =>
      failed("issuer", `${lineOf(one)} is no CA`, "take it out of FLEET_CA_CHAIN_FILE and FLEET_CA_BUNDLE_FILE"),
    ),
    ...brokenLinks("issuer", s.FLEET_CA_CHAIN_FILE, chain),
    // A node's certificates end with their issuer's, and a new issuer takes its time.
    ...chain.map((one) => validityCheck(`issuer ${lineOf(one)}`, one, ISSUER_WARNING_DAYS)),
    ...older.map((one) => validityCheck(`older issuer ${lineOf(one)}`, one)),
  ];
}

function brokenLinks(name: string, file: string, chain: readonly X509Certificate[]): Check[] {
  return chain.flatMap((one, i) => {
    const above = chain[i + 1];
    if (above === undefined || (one.checkIssued(above) && one.verify(above.publicKey))) return [];
    return [
      failed(
        name,
        `certificate ${i + 2} of ${file} did not issue certificate ${i + 1}`,
        "put the chain in order, leaf first",
      ),
    ];
  });
}

function lineOf({ subject }: X509Certificate): string {
  return subject.replaceAll("\n", ", ");
}

/** At least one. @throws Error where the file cannot be read, or one of its certificates, or where it holds none */
function certificatesIn(file: string): X509Certificate[] {
  const blocks = readFileSync(file, "utf8").match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error(`${file} holds no certificate`);
  return blocks.map((pem) => new X509Certificate(pem));
}
