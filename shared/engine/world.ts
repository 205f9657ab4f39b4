import type { FleetSettings } from "../fleet/limits.ts";
import type { BootPlanePort } from "../ports/boot-plane.ts";
import type { NetBoxPort } from "../ports/netbox.ts";
import type { PolicyPort } from "../ports/policy.ts";
import type { RecordsPort } from "../ports/records.ts";
import type { SignerPort } from "../ports/signer.ts";
import type { StorePort } from "../ports/store.ts";
import type { ClockPort, EntropyPort, FilesPort } from "../ports/system.ts";
import type { WorkloadClusterPort } from "../ports/workload-cluster.ts";

/** Something that happened, for log lines and metrics; never a secret. */
export interface EngineEvent {
  readonly kind: "step" | "step-failed" | "condition" | "journal" | "pass" | "peer-down" | "evidence-lost";
  readonly device: string;
  readonly code: string;
  readonly text: string;
}

/** All outside systems that passes and handlers ask, behind their ports. */
export interface World {
  readonly netbox: NetBoxPort;
  readonly bootPlane: BootPlanePort;
  readonly cluster: WorkloadClusterPort;
  readonly records: RecordsPort;
  readonly store: StorePort;
  readonly signer: SignerPort;
  readonly files: FilesPort;
  readonly policy: PolicyPort;
  readonly clock: ClockPort;
  readonly entropy: EntropyPort;
  readonly settings: FleetSettings;
  readonly event: (event: EngineEvent) => void;
}
