import type { BootstrapToken, CsrView } from "../../shared/fleet/cluster.ts";
import type { Device, DevicePatch } from "../../shared/fleet/device.ts";
import type { SimWorkflow } from "./peers/boot-plane.ts";
import type { JournalLine } from "./peers/netbox.ts";
import type { Task } from "./task.ts";

/** What truly happened, told by the peers and machines themselves; `by` is the task whose call it was, null for others. */
export type Event =
  | { readonly kind: "created"; readonly workflow: SimWorkflow; readonly by: Task | null }
  | { readonly kind: "enabled"; readonly workflow: SimWorkflow; readonly by: Task | null }
  | { readonly kind: "patched"; readonly before: Device; readonly patch: DevicePatch; readonly by: Task | null }
  | { readonly kind: "journaled"; readonly line: JournalLine; readonly by: Task | null }
  | { readonly kind: "approved"; readonly csr: CsrView; readonly by: Task | null }
  | { readonly kind: "token"; readonly token: BootstrapToken; readonly secret: string; readonly by: Task | null }
  /** A machine got certificates, or an install code, for a device. */
  | { readonly kind: "issued" | "coded"; readonly machine: number; readonly deviceId: number; readonly by: Task }
  /** A configuration: its first byte is about to go, or its last one went. */
  | {
      readonly kind: "handed" | "served";
      readonly machine: number;
      readonly deviceId: number;
      readonly code: string;
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
  readonly succeeded: { readonly workflow: SimWorkflow; readonly atMs: number }[] = [];
  readonly offJobs: Extract<Event, { kind: "off-job" }>[] = [];
  readonly tokens = new Map<string, BootstrapToken>();
  readonly approved: { readonly csr: CsrView; readonly atMs: number }[] = [];
  readonly codes = new Map<number, string[]>();
  readonly secrets = new Set<string>();
  /** Hashes of codes as records named them, oldest first, by device; the step of the newest of all. */
  readonly codeHashes = new Map<number, string[]>();
  newestCodeStep = 0;
  /** Lines of the journal by device and mark: whether their writer still held its lock. */
  readonly marks = new Map<string, { readonly held: boolean }>();
  /** Texts that fleetd wrote anywhere, since they were searched last. */
  texts: string[] = [];
  /** Every owner's entry of the change log, by device: a restored NetBox forgets some. */
  readonly requests = new Map<string, { readonly atMs: number; readonly planned: boolean }>();
  /** Steps at which something was lost or went back. */
  readonly losses: { readonly step: number; readonly atMs: number; readonly what: string }[] = [];

  /** Whether an owner ever declared another BMC, or none, for a device that has one. */
  bmcChanged(deviceId: number): boolean {
    return (this.rows.get(deviceId) ?? []).some(
      ({ row }) => row !== null && (row.bmcType !== "redfish" || row.oobAddress !== `10.9.0.${deviceId}`),
    );
  }

  wasServed(deviceId: number): boolean {
    return (this.codes.get(deviceId) ?? []).some((code) => this.servings.has(code));
  }

  wroteRecord(deviceId: number, text: string, step: number): void {
    const hash = /"codeHash":"([0-9a-f]+)"/.exec(text)?.[1];
    const known = this.codeHashes.get(deviceId) ?? [];
    if (hash === undefined || known.includes(hash)) return;
    this.codeHashes.set(deviceId, [...known, hash]);
    this.newestCodeStep = step;
  }

  lostSince(atMs: number, ...what: readonly string[]): boolean {
    return this.losses.some((loss) => loss.atMs >= atMs && (what.length === 0 || what.includes(loss.what)));
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
