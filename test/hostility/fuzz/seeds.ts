import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { childrenOf, readDer } from "../../../shared/formats/der.ts";
import { EV } from "../../../shared/formats/eventlog/event-types.ts";
import {
  writeCertificationRequest,
  writeCertificationRequestInfo,
} from "../../../shared/formats/x509/certification-request.ts";
import { authority, separator, signatureList, variables } from "../../shared/attest/log-builder.ts";
import { ecKey } from "../../shared/attest/soft-key.ts";
import { vector, vectorText } from "../../vectors/read.ts";
import { readRecorded, toBundle } from "../../vectors/to-bundle.ts";
import { about, behind, good, owned } from "../attack.ts";
import { loadOptionsEvent, softSet } from "../evidence.ts";
import { bytesAt } from "../fields.ts";
import { type LogBank, type Recorded, recordLog } from "../logs.ts";

const text = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const folder = (path: string, suffix: string): Uint8Array[] =>
  readdirSync(new URL(`../../vectors/${path}/`, import.meta.url))
    .filter((name) => name.endsWith(suffix))
    .map((name) => vector(`${path}/${name}`));

const certificates = folder("ekcerts", ".der").filter((der) => der.length < 1400);
const pem = vectorText("vm/certs/lab-db.pem");
const lab = new Uint8Array(new X509Certificate(pem).raw);
const spkis = [ecKey("P-384", "sha384"), ecKey("P-256", "sha256")].map(
  (key) => new Uint8Array(key.publicKey.export({ type: "spki", format: "der" })),
);

const boot: Recorded[] = [
  { pcr: 0, type: EV.EV_S_CRTM_VERSION, data: Uint8Array.of(1) },
  ...variables(lab),
  separator,
  authority("db", lab),
  authority("SbatLevel", text("sbat,1,2023012900\n")),
  loadOptionsEvent("quiet hookos"),
];
const locality: Recorded = { pcr: 0, type: EV.EV_NO_ACTION, data: text("StartupLocality\0\x03") };
const log = (records: readonly Recorded[], ...banks: LogBank[]): Uint8Array => recordLog(records, banks).log;
const logs = (): Uint8Array[] => [
  log(boot, "sha256"),
  log([locality, ...boot], "sha1", "sha256", "sha384"),
  log([...boot, about("authority", "MokListTrusted", "shim", Uint8Array.of(1))], "sha384"),
  log(behind("dbx", { pcr: 7, type: EV.EV_EFI_ACTION, data: text("UEFI Debug Mode\0") }), "sha256"),
  log([...good, { pcr: 8, type: EV.EV_IPL, data: text("kernel_cmdline: quiet\0") }], "sha256"),
  log([...boot, about("authority", "Shim", "shim", owned(lab))], "sha1"),
];

const frame = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));

function certificationRequest(): Uint8Array {
  const info = writeCertificationRequestInfo(
    { organizations: ["system:nodes"], commonName: "system:node:a" },
    spkis[1] ?? new Uint8Array(0),
  );
  return writeCertificationRequest(info, new Uint8Array(70));
}

const bundles = (): unknown[] => [
  softSet("P-256", "intake").bundle,
  softSet("RSAPSS", "renewal").bundle,
  toBundle(readRecorded("enrolment-swtpm.json"), [0, 7], "sha256"),
];

const areas = (): Uint8Array[] => [
  ...["ak.pub.tpm2b", "ek.pub.tpm2b", "ek-ecc.pub.tpm2b", "ldevid.pub.tpm2b"].map((name) =>
    vector(`vm/lab-sb-on/${name}`),
  ),
  ecKey("P-384", "sha384").public,
];

/** What each target's mutations begin with. */
export const SEEDS: Readonly<Record<string, () => readonly Uint8Array[]>> = {
  tpm2: () => [
    ...areas(),
    ...areas().map((area) => area.subarray(2)),
    ...["quote.msg", "quote.sig", "certify.msg", "certify.sig"].map((name) => vector(`vm/lab-sb-on/${name}`)),
    bytesAt(softSet("P-384", "intake").bundle, "quote.signature"),
    Uint8Array.from([0, 36, 0, 32, ...new Uint8Array(34)]),
  ],
  "public-area": areas,
  events: () => [...boot.map((one) => one.data), locality.data, text("DMA Protection Disabled")],
  "signature-lists": () => [
    signatureList(Uint8Array.of(0x30, 0)),
    new Uint8Array(Buffer.concat([signatureList(Uint8Array.of(0x30, 0)), signatureList(Uint8Array.of(1, 2, 3))])),
  ],
  sbat: () => [text("sbat,1,2023012900\nshim,2\ngrub,3\ngrub.debian,4\n"), text("sbat,1,2021030218\n\0\0")],
  "event-log": logs,
  boot: logs,
  "ek-certificate": () => certificates,
  csr: () => [certificationRequest()],
  spki: () => [...spkis, ...certificates.slice(0, 6).map(spkiOf)],
  names: () => certificates.slice(0, 12).flatMap((der) => partsOf(der).slice(2, 6)),
  pem: () => [text(pem), text(`${vectorText("vm/certs/lab-KEK.pem")}text\n${pem}`)],
  lldp: () => [
    frame("0180c200000e52540012345688cc02070452540012345604050573777037060200780a077377697463683100000000"),
    frame("0180c200000e5254001234568100000a88cc020605010a000001040703525400123456060200780804706f7274000000"),
  ],
  report: () => [
    text({
      mac: "52:54:00:00:00:01",
      lldp: null,
      hookosVersion: "1",
      commandLine: "quiet",
      clock: "2026-11-29T12:00:00Z",
      uuid: "4c4c4544-0034-4410-8043-b7c04f335131",
    }),
  ],
  bundle: () => bundles().map(text),
  profile: () => [
    text({ name: "p", bank: "sha256", authorities: [{ pem, for: ["hookos"] }] }),
    text({
      name: "p",
      bank: "sha384",
      authorities: [{ sha256: "0".repeat(64), subject: "CN=x", for: ["hookos", "os"] }],
      hookosMarker: "a",
      osMarker: "b",
      beforeSeparator: [{ pem }],
      requiredEvents: [{ pcr: 4, digest: "0".repeat(96), note: "x" }],
      allowedActions: ["UEFI Debug Mode"],
    }),
  ],
};

function partsOf(der: Uint8Array): Uint8Array[] {
  try {
    const [tbs] = childrenOf(readDer(der, "seed"), "seed");
    return tbs ? childrenOf(tbs, "seed").map((one) => one.raw) : [];
  } catch {
    return [];
  }
}

function spkiOf(der: Uint8Array): Uint8Array {
  return partsOf(der)[6] ?? new Uint8Array(0);
}

/** The inputs that were kept of earlier runs. */
export function corpusOf(target: string): Uint8Array[] {
  const path = new URL(`../corpus/${target}/`, import.meta.url);
  try {
    return readdirSync(path).map((name) => new Uint8Array(readFileSync(new URL(name, path))));
  } catch {
    return [];
  }
}
