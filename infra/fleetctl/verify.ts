import { readCertificates } from "../../shared/adapters/policy/certificate-files.ts";
import { BadFile, OPERATOR_PEM } from "../../shared/adapters/policy/profile-files.ts";
import { type BundleOptions, type BundleResult, verifyBundle } from "../../shared/attest/bundle.ts";
import { type EkRoots, ekRootsOf } from "../../shared/attest/ek-shown.ts";
import type { Check, Purpose } from "../../shared/attest/verdict.ts";
import { type Arguments, type Command, type Io, JSON_OPTION, UsageError } from "./_command.ts";
import { readJsonInput } from "./files.ts";
import { lacksOperator, PROFILE_OPTIONS, profilesFor } from "./profiles.ts";
import { plain } from "./text.ts";

/** Recorded evidence judged anew, offline. @see spec/20-verification.md "Evidence bundles" */
export const verify: Command = {
  name: "verify",
  operands: "FILE…",
  summary: "verify recorded evidence again, offline",
  details: [
    "Verifies evidence bundles: the quote, the event log, PCR 7 and the boot policy. Each is judged by the profile that",
    "it names where that is among the profiles, or by --profile; without one, by all but the authorities.",
    "With --json: one line a file, {file, verdict, codes, checks}.",
  ].join("\n"),
  options: {
    profile: { type: "string", placeholder: "NAME", help: "judge by this profile, whatever a bundle names" },
    purpose: { type: "string", placeholder: "intake|renewal", help: "judge as this, whatever a bundle says" },
    ...PROFILE_OPTIONS,
    "ek-roots": {
      type: "string",
      placeholder: "PATH",
      help: "manufacturers' certificates, to show each EK's chain (else FLEET_EK_ROOTS); refuses nothing",
    },
    json: JSON_OPTION,
  },
  exitCodes: { 0: "all accepted", 1: "some refused", 2: "some unreadable" },
  async run(args, io) {
    if (args.files.length === 0) throw new UsageError("no file");
    const options = await bundleOptions(args, io);
    const counts = { accepted: 0, refused: 0, unreadable: 0 };
    const ekRoots = await ekRootsFor(args, io);
    for (const file of args.files) {
      const result = await verifyFile(file, options, ekRoots);
      counts[result.verdict]++;
      for (const note of notes(result, options)) io.err(`${plain(file)}: ${note}`);
      if (args.flag("json")) {
        const { verdict, codes, checks } = result;
        io.out(JSON.stringify({ file, verdict, codes, checks }));
      } else {
        for (const line of verdictText(file, result)) io.out(line);
      }
    }
    if (!args.flag("json") && args.files.length > 1) {
      const { accepted, refused, unreadable } = counts;
      io.out(`${args.files.length} files: ${accepted} accepted, ${refused} refused, ${unreadable} unreadable`);
    }
    return counts.unreadable > 0 ? 2 : counts.refused > 0 ? 1 : 0;
  },
};

async function bundleOptions(args: Arguments, io: Io): Promise<BundleOptions> {
  const profiles = await profilesFor(args, io);
  const purpose = purposeOf(args.value("purpose"));
  const name = args.value("profile");
  const profile = name === undefined ? undefined : profiles.get(name);
  if (name !== undefined && profile === undefined) {
    throw new UsageError(`no profile ${name}; there are: ${[...profiles.keys()].join(", ")}`);
  }
  return { profiles, ...(profile ? { profile } : {}), ...(purpose ? { purpose } : {}) };
}

function purposeOf(value: string | undefined): Purpose | undefined {
  if (value === undefined || value === "intake" || value === "renewal") return value;
  throw new UsageError(`--purpose ${value}: it is intake or renewal`);
}

type RootsAt = (nowMs: number) => EkRoots | null;

async function ekRootsFor(args: Arguments, io: Io): Promise<RootsAt> {
  const path = args.value("ek-roots") ?? io.env.FLEET_EK_ROOTS;
  if (path === undefined) return () => null;
  try {
    const certificates = await readCertificates(path);
    return (nowMs) => ekRootsOf(certificates, nowMs);
  } catch (error) {
    if (!(error instanceof BadFile)) throw error;
    throw new UsageError(error.message);
  }
}

// Dates are judged as on the day of the evidence: what was said of it then is said of it for ever.
function momentOf(value: unknown): number {
  const at = typeof value === "object" && value !== null && "at" in value ? value.at : null;
  const moment = typeof at === "string" ? Date.parse(at) : Number.NaN;
  return Number.isNaN(moment) ? Date.now() : moment;
}

async function verifyFile(file: string, options: BundleOptions, rootsAt: RootsAt): Promise<BundleResult> {
  const json = await readJsonInput(file);
  if (typeof json !== "string") {
    return verifyBundle(json.value, { ...options, ekRoots: rootsAt(momentOf(json.value)) });
  }
  const check: Check = { name: "bundle", ok: false, code: "bad-request", seen: json, expected: "an evidence bundle" };
  return { verdict: "unreadable", codes: ["bad-request"], checks: [check], boot: null };
}

/** What the reader of a verdict must know of the profiles; on stderr, since programs read the rest. */
function notes({ verdict, checks, boot }: BundleResult, { profile, profiles }: BundleOptions): string[] {
  if (boot === null) return [];
  const unjudged = checks.find((check) => check.name === "profile" && check.seen !== "none");
  if (unjudged) return [`profile ${plain(unjudged.seen)}: no authority was judged; --profiles DIR names the folder`];
  const judge = profile ?? (boot.profile === null ? undefined : profiles?.get(boot.profile));
  const foreign = boot.codes.includes("authority-not-accepted") || boot.codes.includes("not-hookos");
  if (verdict !== "refused" || !judge || !foreign || !lacksOperator(judge)) return [];
  return [
    `profile ${judge.name} has no ${OPERATOR_PEM}, so nothing that you signed is accepted; --operator FILE names it`,
  ];
}

function verdictText(file: string, result: BundleResult): string[] {
  const policy = result.boot === null ? "" : judgedBy(result.boot.profile, result.boot.purpose);
  const lines = [
    `${plain(file)}: ${result.verdict}${result.codes.length > 0 ? ` (${result.codes.join(", ")})` : ""}${policy}`,
  ];
  for (const check of result.checks) {
    if (check.ok) {
      lines.push(`  ok    ${check.name}: ${plain(check.seen)}`);
      continue;
    }
    lines.push(`  FAIL  ${check.name} [${check.code ?? "refused"}]`);
    lines.push(`          seen      ${plain(check.seen)}`, `          expected  ${plain(check.expected)}`);
  }
  return lines;
}

function judgedBy(profile: string | null, purpose: Purpose): string {
  const how = profile === null ? "without a profile: its authorities are shown, not judged" : `by profile ${profile}`;
  return `, as ${purpose}, ${how}`;
}
