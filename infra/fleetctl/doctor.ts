import { readSettings, type Settings } from "../../shared/runtime/config.ts";
import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { settingsEnvironment } from "./config.ts";
import { checkCertificates } from "./doctor/certificates.ts";
import type { Check } from "./doctor/check.ts";
import { checkKubernetes } from "./doctor/kubernetes.ts";
import { checkNetBox } from "./doctor/netbox.ts";
import { checkPolicyFiles } from "./doctor/policy.ts";
import { checkRedis } from "./doctor/redis.ts";
import { columns, plain } from "./text.ts";

const FAILED = 1;
const UNREADABLE = 2;

/** Whether fleetd would find what it needs. @see spec/60-operator.md */
export const doctor: Command = {
  name: "doctor",
  operands: "",
  summary: "look at all that fleetd needs: peers, rights, clocks, certificates; nothing is changed",
  details: [
    "Takes fleetd's own settings, from this environment or from --from alone, and asks each peer by fleetd's own credentials, whether",
    "fleetd runs or not: is it reached, are the rights there (in NetBox each permission, in Kubernetes each rule of infra/kubernetes),",
    "does nobody else approve fleetd's nodes, does Redis keep nothing on a disk, do the clocks agree, are certificates for the right",
    "name, whole and not about to expire, does the issuer's key sign, has NetBox the fields. One line for each; below a warning or a",
    "failure, what to do.",
    "With --json: {checks: [{name, result, text, todo}]}, result one of ok, warning, failed.",
  ].join("\n"),
  options: {
    from: { type: "string", placeholder: "FILE", help: "NAME=value lines in the environment's place, as systemd's" },
    json: JSON_OPTION,
  },
  exitCodes: {
    0: "nothing failed; there may be warnings",
    [FAILED]: "something failed",
    [UNREADABLE]: "the file of settings cannot be read",
  },
  async run(args, io) {
    if (args.files.length > 0) throw new UsageError("no operand is taken");
    const path = args.value("from");
    const env = await settingsEnvironment(path, io.env);
    if (typeof env === "string") {
      io.err(`fleetctl doctor: ${plain(path ?? "")}: ${env}`);
      return UNREADABLE;
    }
    const checks = await allChecks(env);
    if (args.flag("json")) io.out(JSON.stringify({ checks }));
    else for (const line of told(checks)) io.out(line);
    return checks.some((one) => one.result === "failed") ? FAILED : 0;
  },
};

async function allChecks(env: Readonly<Record<string, string | undefined>>): Promise<Check[]> {
  const read = settingsOf(env);
  if (Array.isArray(read)) return read;
  const found = await Promise.all([
    checkPolicyFiles(read),
    checkNetBox(read),
    checkKubernetes(read),
    checkRedis(read),
    checkCertificates(read),
  ]);
  return [{ name: "settings", result: "ok", text: "all are there, and each can be read", todo: null }, ...found.flat()];
}

function settingsOf(env: Readonly<Record<string, string | undefined>>): Settings | Check[] {
  try {
    return readSettings(env);
  } catch (error) {
    const faults = (error as Error).message.split("\n").slice(1);
    const todo = "mend the settings: nothing else can be looked at before";
    return faults.map((fault) => ({ name: "settings", result: "failed", text: fault.trim(), todo }));
  }
}

function told(checks: readonly Check[]): string[] {
  const word = { ok: "ok", warning: "warning", failed: "FAILED" } as const;
  const lines = columns(
    checks.map((one) => [word[one.result], plain(one.name), plain(one.text)]),
    "",
  );
  return checks.flatMap((one, i) => [
    lines[i] ?? "",
    // What several lines in a row ask for is said once, below the last.
    ...(one.todo === null || one.todo === checks[i + 1]?.todo ? [] : [`         do: ${plain(one.todo)}`]),
  ]);
}
