import { type JournalLevel, objectName } from "../device.ts";
import type { Run } from "../record.ts";
import type { Draft } from "./draft.ts";
import { retireAttemptEnded } from "./retire-attempt.ts";

type EndState = NonNullable<Run["terminal"]>;

const RESULTS: Record<Run["kind"], { ok: NonNullable<Run["result"]>; bad: NonNullable<Run["result"]> }> = {
  provision: { ok: "unread", bad: "failed" },
  attest: { ok: "attested", bad: "failed" },
  wipe: { ok: "wiped", bad: "failed" },
  retire: { ok: "erased", bad: "failed" },
};

function resultOf(d: Draft, run: Run, end: EndState): NonNullable<Run["result"]> {
  if (end.state === "WITHDRAWN") return "withdrawn";
  if (end.state === "STOPPED") return "stopped";
  if (run.kind === "provision" && isServed(d, run)) return "success";
  if (end.state !== "SUCCESS") return RESULTS[run.kind].bad;
  if (run.kind === "attest" && run.verdictAtMs === null) return "no-verdict";
  const cls = run.class?.class;
  if (run.kind === "provision" && (cls?.payload === "none" || cls?.attestation === "unsupported")) return "success";
  return RESULTS[run.kind].ok;
}

/** True where the disk was wiped and holds no new system: by a wipe, or a provision of a class that installs nothing. */
function leavesNothing(d: Draft, run: Run, result: NonNullable<Run["result"]>): boolean {
  if (run.kind === "wipe") return result === "wiped";
  return run.kind === "provision" && result === "success" && d.record.installed?.run !== run.name && !isServed(d, run);
}

function isServed(d: Draft, run: Run): boolean {
  return d.record.config?.run === run.name && d.record.config.state === "served";
}

/** What the machine that is wiped leaves behind goes, so that the next kubelet inherits nothing. */
export function forgetNode(d: Draft): void {
  removeConfig(d);
  const { node, token } = d.record;
  if (node !== null) d.owe({ do: "delete-node", uid: node.uid });
  if (token !== null && token.deletedAtMs === null) d.owe({ do: "delete-token", id: token.id });
}

/** Takes an unread configuration and its token away: the run that they belonged to is over. */
export function removeConfig(d: Draft): void {
  const { config, token } = d.record;
  if (config !== null && config.state === "unread") {
    d.set({ config: { ...config, state: "removed" } });
    d.owe({ do: "drop-config" });
  }
  if (token !== null && token.deletedAtMs === null && config?.state !== "served")
    d.owe({ do: "delete-token", id: token.id });
}

const LEVEL: Partial<Record<NonNullable<Run["result"]>, JournalLevel>> = {
  success: "success",
  unread: "info",
  attested: "success",
  wiped: "success",
  erased: "success",
};
const levelOf = (result: NonNullable<Run["result"]>): JournalLevel => LEVEL[result] ?? "warning";

/** What is known of the machine's power after a run of which nothing began: its boot mode turns it off, then on. */
function leftOff(d: Draft, run: Run): string {
  if (!run.bootMode || run.begunAtMs !== null) return "";
  const bmc = d.o.bootPlane?.machines.find((m) => m.name === objectName(d.o.device.id));
  return `; its BMC Job may have left the machine off (the BMC last said ${bmc?.powerState ?? "unknown"})`;
}

/** The run's end in words, for the journal. */
export function words(d: Draft, run: Run, result: NonNullable<Run["result"]>, end: EndState): string {
  const where = end.action === null ? "" : ` at action ${end.action}`;
  const why = end.detail === "" ? "" : `: ${end.detail}`;
  switch (result) {
    case "success":
      return leavesNothing(d, run, result)
        ? `${run.kind} ended: the disk is wiped, and its class installs nothing`
        : `${run.kind} ended well`;
    case "unread":
      return "install ended by the agent's word; the configuration is not read yet";
    case "attested":
      if (d.record.verdict?.result === "fail") return "attest ended: the machine attested, and its quote was refused";
      return "attest ended: the machine attested and boots its disk again";
    case "wiped":
      return "wipe ended by the agent's word: the system disk is wiped and the machine stays in HookOS";
    case "erased":
      return "the disk is erased by the agent's word";
    case "no-verdict":
      return "attest ended without a verdict: the machine did not attest";
    case "withdrawn":
      return `${run.kind} withdrawn before any action began${why}`;
    default:
      return `${run.kind} failed${where} (${end.state})${why}; ${run.diskBegun ? "a disk action had begun" : "no disk action had begun"}${leftOff(d, run)}`;
  }
}

/** Latches the run's first end, with everything that follows from it in the record. */
export function endRun(d: Draft, run: Run, end: EndState): void {
  const result = resultOf(d, run, end);
  d.set({ run: { ...run, phase: "ended", terminal: end, result } });
  const text = words(d, run, result, end);
  const isRefused = result === "attested" && d.record.verdict?.result === "fail";
  d.say(isRefused ? "warning" : levelOf(result), `run-${result}`, text, run.name);
  const badly = result === "failed" || result === "withdrawn" || result === "stopped";
  if (run.kind === "provision" && badly) removeConfig(d);
  if (leavesNothing(d, run, result)) forgetNode(d);
  if (run.kind !== "retire") return;
  if (result === "erased") d.set({ erasedFor: run.request });
  retireAttemptEnded(d, result, text);
  // Taken back while it went on: it ends as a wipe does.
  if (result === "erased" && d.o.device.status !== "decommissioning" && d.o.device.status !== "offline") forgetNode(d);
}

/** The run as one that was taken back before any action began. */
export function withdrawn(run: Run, atMs: number, reason: string): Run {
  return {
    ...run,
    phase: "ended",
    terminal: { state: "WITHDRAWN", atMs, action: null, detail: reason },
    result: "withdrawn",
  };
}
