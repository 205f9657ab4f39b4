import type { BootPlaneObjects } from "./boot-plane.ts";
import type { ClassInputs, ClassTable } from "./class.ts";
import type { CsrView, NodeView, PodView, TokenView } from "./cluster.ts";
import type { ChangeEntry, Device } from "./device.ts";
import type { FleetRecord } from "./fleet-record.ts";
import type { FleetSettings } from "./limits.ts";
import type { DeviceRecord } from "./record.ts";

/** All that one look at a device saw; null stands for a peer that did not answer. */
export interface Observed {
  readonly nowMs: number;
  readonly trigger: "pass" | "confirm";
  readonly device: Device;
  /** Sentence naming what the device shares with another, or null. */
  readonly conflict: string | null;
  /** Whose the Node of the device's name rather is, in words; null where it is its own, or where nothing is to be done with it. */
  readonly othersNode: string | null;
  /** Change log, newest first; null: not readable. Empty where it was not needed. */
  readonly changes: readonly ChangeEntry[] | null;
  readonly record: DeviceRecord;
  readonly fleet: FleetRecord;
  readonly bootPlane: BootPlaneObjects | null;
  readonly cluster: SeenCluster | null;
  /** Text of the running Workflow's Template where its actions are still to be compared; else null. */
  readonly template: string | null;
  readonly classes: ClassTable;
  readonly classInputs: ClassInputs | null;
  readonly settings: FleetSettings;
}

export interface SeenCluster {
  readonly node: NodeView | null;
  /** CSRs made with the device's token, or naming its node. */
  readonly csrs: readonly CsrView[];
  /** Pods of the node; null where they were not needed. */
  readonly pods: readonly PodView[] | null;
  /** Bootstrap tokens labelled as the device's, live in the cluster. */
  readonly tokens: readonly TokenView[];
  /** True where the controller manager would approve the token group's CSRs itself. */
  readonly othersApprove: boolean;
}
