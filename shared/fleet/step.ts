import type { HardwareManifest, JobManifest, MachineManifest, WorkflowManifest } from "./boot-plane.ts";
import type { BootstrapToken, CsrView, NodePatch, PodView } from "./cluster.ts";
import type { DevicePatch, JournalLevel } from "./device.ts";
import type { DeviceRecord } from "./record.ts";

/** All that a plan may ask for; every name, id and text is already in it, and applying one makes no choice. */
export type Step =
  /** Writes the record under the resourceVersion that the device's steps have seen last. */
  | { readonly do: "put-record"; readonly record: DeviceRecord }
  | { readonly do: "take-slot"; readonly deviceId: number; readonly run: string; readonly unlimited: boolean }
  | { readonly do: "free-slot"; readonly deviceId: number }
  | { readonly do: "patch-device"; readonly id: number; readonly patch: DevicePatch; readonly lastUpdated: string }
  | {
      readonly do: "journal";
      readonly id: number;
      readonly level: JournalLevel;
      readonly text: string;
      readonly mark: string;
      readonly lookFirst: boolean;
    }
  | { readonly do: "apply-object"; readonly manifest: HardwareManifest | MachineManifest }
  | { readonly do: "create-workflow"; readonly manifest: WorkflowManifest }
  | { readonly do: "create-job"; readonly manifest: JobManifest }
  /** Reads the record again first: enables only what it still wants. */
  | { readonly do: "enable-workflow"; readonly name: string; readonly uid: string; readonly resourceVersion: string }
  | {
      readonly do: "remove-object";
      readonly kind: "Hardware" | "Machine" | "Workflow" | "Job";
      readonly name: string;
      readonly uid: string;
      readonly resourceVersion?: string;
    }
  | { readonly do: "patch-node"; readonly name: string; readonly uid: string; readonly patch: NodePatch }
  | { readonly do: "evict"; readonly pods: readonly PodView[] }
  | { readonly do: "delete-node"; readonly name: string; readonly uid: string }
  | { readonly do: "approve-csr"; readonly csr: CsrView; readonly message: string }
  | { readonly do: "delete-csr"; readonly name: string; readonly uid: string }
  | { readonly do: "create-token"; readonly token: BootstrapToken; readonly secret: string }
  | { readonly do: "delete-token"; readonly id: string }
  | { readonly do: "drop-config"; readonly deviceId: number; readonly consumed: boolean }
  /** Gives an unread configuration a new TTL; one that is not there (any more) stays so. */
  | { readonly do: "keep-config"; readonly deviceId: number; readonly ttlMs: number };

/** Whether the plan begins a run or goes on with its start: uniqueness is asked of the whole fleet right before. */
export function startsRun(steps: readonly Step[]): boolean {
  return steps.some((s) => s.do === "take-slot" || s.do === "create-workflow" || s.do === "enable-workflow");
}

export interface Plan {
  readonly steps: readonly Step[];
  /** True where the device is worth another look at once: what the steps did decides what comes next. */
  readonly again: boolean;
}
