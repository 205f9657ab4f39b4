import type { BootstrapToken, CsrView, NodeView } from "../../shared/fleet/cluster.ts";
import type { Device, DevicePatch } from "../../shared/fleet/device.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import type { IdRange } from "../../shared/ports/netbox.ts";
import type { BootKind } from "./hardware.ts";
import type { SimWorkflow } from "./peers/boot-plane.ts";
import type { JournalLine } from "./peers/netbox.ts";
import type { Task } from "./task.ts";

/** What truly happened, told by the peers and machines themselves; `by` is the task whose call it was, null for others. */
export type Event =
  | { readonly kind: "created"; readonly workflow: SimWorkflow; readonly by: Task | null }
  | { readonly kind: "enabled"; readonly workflow: SimWorkflow; readonly by: Task | null }
  | { readonly kind: "patched"; readonly before: Device; readonly patch: DevicePatch; readonly by: Task | null }
  /** A record was written over the one before (null: there was none). */
  | {
      readonly kind: "recorded";
      readonly before: DeviceRecord | null;
      readonly record: DeviceRecord;
      readonly by: Task | null;
    }
  | { readonly kind: "removed"; readonly hardware: string; readonly deviceId: number; readonly by: Task | null }
  | { readonly kind: "journaled"; readonly line: JournalLine; readonly by: Task | null }
  | { readonly kind: "approved"; readonly csr: CsrView; readonly by: Task | null }
  | { readonly kind: "token"; readonly token: BootstrapToken; readonly secret: string; readonly by: Task | null }
  /** A machine got certificates, or an install code, for a device. */
  | { readonly kind: "issued" | "coded"; readonly machine: number; readonly deviceId: number; readonly by: Task }
  /** A machine's renewal with the certificates of a device was answered with new ones. */
  | {
      readonly kind: "renewed";
      readonly machine: number;
      readonly deviceId: number;
      readonly boot: BootKind;
      readonly by: Task;
    }
  /** A kubelet that this run has configured registered its Node. */
  | { readonly kind: "joined"; readonly node: NodeView; readonly run: string }
  | { readonly kind: "node-deleted"; readonly node: NodeView; readonly by: Task | null }
  /** A configuration: its first byte is about to go, or its last one went. */
  | {
      readonly kind: "handed" | "served";
      readonly machine: number;
      readonly deviceId: number;
      readonly code: string;
      readonly address: string;
      readonly by: Task;
    }
  /** A machine wrote to its disk under a Workflow. */
  | { readonly kind: "disk"; readonly machine: number; readonly workflow: SimWorkflow; readonly action: string }
  /** The agent has reported SUCCESS for every action in order. */
  | { readonly kind: "succeeded"; readonly workflow: SimWorkflow }
  | { readonly kind: "off-job"; readonly deviceId: number; readonly job: string; readonly madeAtMs: number };

export interface Enabled {
  readonly workflow: SimWorkflow;
  readonly step: number;
  readonly atMs: number;
  readonly requestAtMs: number;
  readonly firstInstall: boolean;
}

export type LossKind = "store" | "record" | "records" | "fleet" | "tinkerbell" | "netbox";

export interface Loss {
  readonly step: number;
  readonly atMs: number;
  readonly what: LossKind;
  /** Whose record it was, where it was one. */
  readonly deviceId?: number;
}

/** A pass that did all that it saw. */
export function isDone(by: Task | null): boolean {
  return by?.ended === true && by.report !== null && !by.report.skipped && by.report.failed === 0;
}

interface RowAt {
  readonly step: number;
  readonly row: Device | null;
}

/** All that the simulation knows for itself, whatever fleetd remembers. */
export class Ledger {
  readonly rows = new Map<number, RowAt[]>();
  readonly enabled: Enabled[] = [];
  /** Completed servings by code; the newest run whose configuration was read whole, by device. */
  readonly troubledServings = new Set<number>();
  readonly servings = new Map<string, number>();
  readonly installed = new Map<number, string>();
  /** `late`: fleetd had latched another end of it before. */
  readonly succeeded: { readonly workflow: SimWorkflow; readonly atMs: number; readonly late: boolean }[] = [];
  readonly offJobs: Extract<Event, { kind: "off-job" }>[] = [];
  readonly tokens = new Map<string, BootstrapToken>();
  readonly approved: { readonly csr: CsrView; readonly atMs: number }[] = [];
  readonly codes = new Map<number, string[]>();
  readonly secrets = new Set<string>();
  /** Requests that a record named as the last of its kind at some time: "device request". */
  readonly usedUp = new Set<string>();
  /** Hashes of codes as records named them, oldest first, by device; the step of the newest of all. */
  readonly codeHashes = new Map<number, string[]>();
  newestCodeStep = 0;
  /** Lines of the journal by device and mark: whether their writer still held its lock, and how many the device had by then. */
  readonly marks = new Map<string, { readonly held: boolean; readonly sinceMs: number; readonly lines: number }>();
  /** Texts that fleetd wrote anywhere, since they were searched last. */
  texts: string[] = [];
  /** Every owner's entry of the change log, by device: a restored NetBox forgets some. */
  readonly requests = new Map<string, { readonly atMs: number; readonly planned: boolean }>();
  /** Steps at which something was lost or went back. */
  readonly losses: Loss[] = [];
  /** Names of all Workflows that ever were. */
  readonly made = new Set<string>();
  /** Whose boards fleetd certified for a device. */
  readonly certified = new Map<number, Set<number>>();
  /** The fleet's epochs as they stood, oldest first; null: there was none. */
  readonly epochs: { readonly step: number; readonly epochMs: number | null }[] = [];
  /** Who broke off reading a configuration, by code. */
  readonly broke = new Map<string, string>();
  /** Requests that an administrator accepted though they were held, `<device> <id>`: the step of the word. */
  readonly accepted = new Map<string, number>();
  /** In how many complete walks in a row a device was missing: now, and before a pass saw it. */
  readonly missed = new Map<number, { readonly walks: number; readonly was: number; readonly seenBy: Task | null }>();

  /** The run that configured a Node's kubelet, by the Node's UID. */
  readonly joined = new Map<string, Enabled>();

  /** Whether an owner ever declared another BMC, or none, for a device that has one. */
  bmcChanged(deviceId: number): boolean {
    return (this.rows.get(deviceId) ?? []).some(
      ({ row }) => row !== null && (row.bmcType !== "redfish" || row.oobAddress !== `10.9.0.${deviceId}`),
    );
  }

  wasServed(deviceId: number): boolean {
    return (this.codes.get(deviceId) ?? []).some((code) => this.servings.has(code));
  }

  wroteRecord({ deviceId, config, lastRequests }: DeviceRecord, step: number): void {
    for (const one of [lastRequests.install, lastRequests.attest])
      if (one !== null) this.usedUp.add(`${deviceId} ${one.id}`);
    const hash = config?.codeHash;
    const known = this.codeHashes.get(deviceId) ?? [];
    if (hash === undefined || known.includes(hash)) return;
    this.codeHashes.set(deviceId, [...known, hash]);
    this.newestCodeStep = step;
  }

  /** Whether something of the device was lost or went back since: `record` alone is of one device, the others of all. */
  lostSince(atMs: number, deviceId: number, ...what: readonly LossKind[]): boolean {
    return this.losses.some(
      (loss) => loss.atMs >= atMs && what.includes(loss.what) && (loss.deviceId ?? deviceId) === deviceId,
    );
  }

  /** NetBox and fleetd's own memory of the device both went back since: nothing is left that tells of it. */
  wentBackAtAll(atMs: number, deviceId: number): boolean {
    return this.lostSince(atMs, deviceId, "netbox") && this.lostSince(atMs, deviceId, "record", "records");
  }

  /** Runs before an administrator's word for the very request: he wants it once more, whatever it came to. */
  enabledSinceWord(deviceId: number, requestId: string): readonly Enabled[] {
    const step = this.accepted.get(`${deviceId} ${requestId}`) ?? 0;
    return this.enabled.filter((e) => e.workflow.deviceId === deviceId && e.step >= step);
  }

  noteEpoch(step: number, text: string | null): void {
    const epochMs = text === null ? null : (JSON.parse(text) as { epochMs: number }).epochMs;
    if (this.epochs.at(-1)?.epochMs !== epochMs) this.epochs.push({ step, epochMs });
  }

  /** Whether a request of that time was newer than the epoch at some step since. */
  isAfterEpoch(atMs: number, sinceStep: number): boolean {
    return this.epochs.some(({ epochMs }, n) => {
      const next = this.epochs[n + 1];
      return epochMs !== null && (next === undefined || next.step >= sinceStep) && atMs > epochMs;
    });
  }

  /** A walk, of all devices or of the pass's shard, was answered: which of those that there were did it come without? */
  walked(which: unknown, devices: readonly Device[], by: Task, isAlone: boolean): void {
    // Only a pass's first list is what it goes by. Between walks that one is of some devices; whoever asks later who
    // shares a value is told of all, and notes of none that it is there.
    if (by.kind !== "pass" || by.hasWalked) return;
    by.hasWalked = true;
    if (Array.isArray(which)) return;
    const { from, to } = (which as IdRange | undefined) ?? { from: 0, to: Number.POSITIVE_INFINITY };
    const seen = new Set(devices.map(({ id }) => id));
    for (const id of this.rows.keys()) {
      if (id < from || id > to) continue;
      const { walks, was, seenBy } = this.missed.get(id) ?? { walks: 0, was: 0, seenBy: null };
      if (!seen.has(id)) this.missed.set(id, { walks: walks + 1, was, seenBy });
      else this.missed.set(id, { walks: 0, was: isDone(seenBy) ? walks : walks + was, seenBy: isAlone ? by : null });
    }
  }

  rowWas(deviceId: number, sinceStep: number, holds: (row: Device) => boolean): boolean {
    const all = this.rows.get(deviceId) ?? [];
    return all.some(({ row }, n) => {
      const next = all[n + 1];
      // The row as it stood at some step of the window.
      return row !== null && (next === undefined || next.step >= sinceStep) && holds(row);
    });
  }
}
