import type { BootPlaneCopy } from "./peers/boot-plane.ts";
import type { NetBoxCopy } from "./peers/netbox.ts";
import type { RecordsCopy } from "./peers/records.ts";

/** Copies of what may go back. */
export interface Backup {
  readonly atMs: number;
  readonly netbox: NetBoxCopy;
  readonly records: RecordsCopy;
  readonly bootPlane: BootPlaneCopy;
}
