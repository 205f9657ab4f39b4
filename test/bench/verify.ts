import { type BootInput, judgeBoot } from "../../shared/attest/boot.ts";
import { readEitherPublic } from "../../shared/attest/keys.ts";
import { type BootPolicyProfile, loadProfile } from "../../shared/attest/profile.ts";
import { provenChecks } from "../../shared/attest/proven.ts";
import { replay } from "../../shared/attest/replay.ts";
import { secureBootFacts } from "../../shared/attest/secure-boot.ts";
import { signatureProblem } from "../../shared/attest/signature.ts";
import { verifyQuoteStage } from "../../shared/attest/verify.ts";
import { readEventLog } from "../../shared/formats/eventlog/log.ts";
import { vectorText } from "../vectors/read.ts";
import { type Evidence, evidenceSets } from "./evidence.ts";
import { goAttestation } from "./go.ts";
import { cpuMicrosPerCall, table } from "./measure.ts";
import { rawOperations, rawSignature } from "./raw.ts";

// CPU time of one verification of all that spec/20 asks, beside the operations that it cannot do without and beside
// google/go-attestation, which checks less: one run, one machine, ratios.

function debianProfile(): BootPolicyProfile {
  const pem = (name: string) => ({ pem: vectorText(`vm/certs/${name}.pem`) });
  const distribution = ["Microsoft-Corporation-UEFI-CA-2011", "Microsoft-UEFI-CA-2023", "Debian-Secure-Boot-CA"];
  const authorities = [
    { ...pem("lab-db"), for: ["hookos"] },
    ...distribution.map((name) => ({ ...pem(name), for: ["os"] })),
  ];
  const loaded = loadProfile({ name: "debian", bank: "sha256", authorities });
  if (!loaded.ok) throw new Error(loaded.problem);
  return loaded.profile;
}

const profile = debianProfile();

function verification(set: Evidence): () => void {
  const stage = {
    akPublic: set.key.public,
    quote: { attest: set.attest, signature: set.signature },
    expectedExtraData: set.extraData,
    bank: "sha256" as const,
    select: set.select,
    pcrs: set.pcrs,
  };
  const boot: BootInput = {
    eventLog: set.eventLog,
    bank: "sha256",
    select: set.select,
    pcrs: set.pcrs,
    profile,
    purpose: set.purpose,
    secureBoot: "required",
    commandLine: null,
    attest: set.attest,
  };
  return () => {
    const refused = verifyQuoteStage(stage);
    if (refused) throw new Error(refused.detail);
    provenChecks(stage);
    const verdict = judgeBoot(boot);
    if (verdict.result !== "pass") throw new Error(verdict.codes.join());
  };
}

/** The parts of one verification, each alone. */
function parts(set: Evidence): Readonly<Record<string, () => unknown>> {
  const area = readEitherPublic(set.key.public);
  const log = readEventLog(set.eventLog);
  return {
    signature: () => signatureProblem(area, set.attest, set.signature),
    "log read": () => readEventLog(set.eventLog),
    replay: () => replay(log, "sha256"),
    "PCR 7": () => secureBootFacts(log, "sha256"),
  };
}

const sets = evidenceSets();
const go = goAttestation(sets);
const micros = (value: number) => value.toFixed(0);
const rows = sets.map((set, i) => {
  const raw = cpuMicrosPerCall(rawOperations(set));
  const whole = cpuMicrosPerCall(verification(set));
  const split = Object.values(parts(set)).map((part) => cpuMicrosPerCall(part, 100, 3));
  const rest = whole - split.reduce((sum, one) => sum + one, 0);
  const other = typeof go === "string" ? undefined : go[i];
  return [
    `${set.name}, ${set.events} events`,
    micros(whole),
    ...split.map(micros),
    micros(rest),
    micros(cpuMicrosPerCall(rawSignature(set), 100, 3)),
    micros(raw),
    (whole / raw).toFixed(2),
    other === undefined ? "–" : micros(other),
    other === undefined ? "–" : (whole / other).toFixed(2),
  ];
});
const head = [
  "CPU µs",
  "fleetd",
  ...Object.keys(parts(sets[0] as Evidence)),
  "rest",
  "raw sign.",
  "raw",
  "ratio",
  "go-att.",
  "ratio",
];
process.stdout.write(`${table([head, ...rows])}\n`);
if (typeof go === "string") process.stdout.write(`google/go-attestation was left out: ${go}\n`);
