import { parseEkBindings } from "../binding.ts";
import { refusalWords } from "../conditions/refusals.ts";
import { nodeName } from "../installed-name.ts";
import { isoTime } from "../moment.ts";
import { isUnfinished, type Run } from "../record.ts";
import { READING } from "./config-access.ts";
import type { Draft } from "./draft.ts";
import { hasBmc } from "./gates.ts";
import { explainIdentity } from "./identity.ts";
import { RENEWAL } from "./renewal.ts";
import { interfaceFor } from "./wiring.ts";

/** Characters of a peer's words that a condition shows. */
const WORDS = 300;

/** Keys and interface that NetBox declares, told before a machine has to find out. */
function declared(d: Draft): void {
  const { device, classes } = d.o;
  if (device.status !== "planned") return;
  const cls =
    device.fleetClass !== null && Object.hasOwn(classes, device.fleetClass) ? classes[device.fleetClass] : undefined;
  if (cls?.attestation === "unsupported") return;
  if (parseEkBindings(device.approvedEks).length === 0) {
    const empty = device.approvedEks === null || (Array.isArray(device.approvedEks) && device.approvedEks.length === 0);
    d.condition(
      "NoBinding",
      empty ? "approved-eks-empty" : "approved-eks-malformed",
      empty
        ? "approved_eks is empty: no TPM is bound to the device"
        : 'approved_eks cannot be read: it must be [{"digest": "sha256:<64 hex>", "source": "SCAN:… or SUPPLIER:…"}]',
    );
  }
  if (interfaceFor(device) === null)
    d.condition(
      "InterfaceUnclear",
      "interface-ambiguous",
      device.interfaces.some((i) => !i.managementOnly)
        ? "several host interfaces and no single declared cable: the boot NIC cannot be told"
        : "the device has no host interface in NetBox",
    );
}

/** What follows once the reason of an attention is mended. */
function onceMended(about: string): string {
  if (about === RENEWAL) return "then it renews by itself";
  return about === READING ? "then it reads its configuration by itself" : "then boot the machine again";
}

/** A running node that has not renewed for so long that it is not listed: not attesting is no way round a quarantine. */
function attestationAge(d: Draft): void {
  const { installed, identity, verdict } = d.record;
  if (d.o.device.status !== "active" || installed?.class.class.reattest !== "renew" || identity === null) return;
  if (verdict === null)
    d.condition("AttestationOld", "never", "adopted, and not renewed yet: not listed for SPIRE until it is");
  else if (verdict.result === "pass" && d.o.nowMs - verdict.atMs > d.o.settings.durations.attestMaxAgeMs)
    d.condition(
      "AttestationOld",
      "too-old",
      `the last passing quote is of ${isoTime(verdict.atMs)}: not listed for SPIRE until the node renews`,
      String(verdict.atMs),
    );
}

/** A node that has its configuration, and is not in the cluster. */
function explainNode(d: Draft): void {
  const { device, cluster, nowMs, settings } = d.o;
  const { installed, token } = d.record;
  if (device.status !== "active" || installed === null || cluster === null || cluster.node !== null) return;
  const { workload, payload } = installed.class.class;
  if (workload === "none" || payload === "none") return;
  const name = nodeName(device, d.record);
  const isOver = token !== null && token.deletedAtMs !== null && token.csr === null;
  // That it was ended for a second user is said, and is its reason.
  if (isOver && token.contended) return;
  if (isOver)
    d.condition(
      "NodeMissing",
      "token-over",
      `no Node ${name} is in the cluster, and its bootstrap token ended before a CSR of it was approved: it cannot join any more`,
      installed.run,
    );
  else if (nowMs - installed.servedAtMs > settings.durations.joinMs)
    d.condition(
      "NodeMissing",
      "not-joined",
      `its configuration was served at ${isoTime(installed.servedAtMs)}, and no Node ${name} is in the cluster: look at the machine's console`,
      installed.run,
    );
}

/** A run that waits for a person, or did not do what it was for. */
function explainRun(d: Draft, run: Run): void {
  const { name, kind, result } = run;
  // A machine that has attested under it, or at whose admission it started, is there.
  const isAwaited = run.begunAtMs === null && run.verdictAtMs === null;
  if (isUnfinished(run) && isAwaited && !run.bootMode && !hasBmc(d.o))
    d.condition("NetbootByHand", "no-bmc", "the device has no BMC: netboot the machine", name);
  const workflow = d.o.bootPlane?.workflows.find((w) => w.name === name);
  if (isUnfinished(run) && workflow !== undefined && workflow.actions.length === 0 && workflow.problem !== "")
    d.condition(
      "RunWaits",
      "not-rendered",
      `Tinkerbell makes nothing of the Workflow (Template ${workflow.templateRef}): ${workflow.problem.slice(0, WORDS)}`,
      name,
    );
  // What a retirement stopped or came after is no more its owner's to ask for.
  if (kind === "retire" || d.o.device.status === "decommissioning") return;
  if (result !== "failed" && result !== "expired" && result !== "stopped" && result !== "no-verdict") return;
  const where = run.terminal?.action == null ? "" : ` at action ${run.terminal.action}`;
  const touched = run.diskBegun ? "; a disk action had begun" : "";
  const runsOn =
    kind !== "attest" && run.begunAtMs === null && d.record.installed !== null
      ? "; no action began, so that the old system may still run"
      : "";
  d.condition(
    "RunFailed",
    result,
    `${kind} ended as ${result}${where}${touched}${runsOn}: nothing is tried again by itself`,
    name,
  );
}

/** What the machine was last told, the verdict, changed keys and what is missing in NetBox, as conditions. */
export function explain(d: Draft): void {
  const { attention, verdict, quarantine, run } = d.record;
  declared(d);
  if (run !== null) explainRun(d, run);
  explainNode(d);
  if (attention !== null)
    d.recalled("MachineWaits", attention.code, `${attention.text}; ${onceMended(attention.about)}`, attention.about);
  if (verdict?.result === "fail") {
    const words = verdict.codes.map(refusalWords);
    const reason = verdict.codes[0] ?? "quote-invalid";
    d.recalled("AttestationFailed", reason, `the last quote was refused: ${words.join("; ")}`, String(verdict.atMs));
  }
  attestationAge(d);
  if (quarantine !== null)
    d.condition(
      "Quarantined",
      `by-${quarantine.by}`,
      "cordoned and tainted, no renewal, not listed for SPIRE; SVIDs and certificates already out run to their end",
      String(quarantine.sinceMs),
    );
  explainIdentity(d);
}
