/** Tinkerbell's objects, as far as fleetd reads and writes them (Tinkerbell v0.25.0, facts/kubernetes-tinkerbell.md). */
export interface ObjectKey {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAtMs: number;
  /** From the label fleetd.dev/device-id. */
  readonly deviceId: number;
}

export interface BootPlaneObjects {
  readonly hardware: readonly HardwareView[];
  readonly workflows: readonly WorkflowView[];
  readonly machines: readonly MachineView[];
  readonly jobs: readonly JobView[];
}

export interface HardwareView extends ObjectKey {
  /** True where any interface's netboot.allowPXE is true. */
  readonly allowPxe: boolean;
  /** The spec as stored, for comparison with the wanted one. */
  readonly spec: unknown;
}

export interface MachineView extends ObjectKey {
  readonly powerState: "on" | "off" | "unknown";
  readonly contactable: boolean;
  readonly spec: unknown;
}

export type WorkflowState = "" | "PREPARING" | "PENDING" | "RUNNING" | "POST" | "SUCCESS" | "FAILED" | "TIMEOUT";

export interface WorkflowView extends ObjectKey {
  /** From the labels fleetd.dev/run-kind and fleetd.dev/request-id. */
  readonly kind: string;
  readonly requestId: string;
  readonly disabled: boolean;
  /** "" where the state is absent: not rendered yet, perhaps for ever. */
  readonly state: WorkflowState;
  readonly actions: readonly ActionView[];
  readonly templateRef: string;
  /** status.globalTimeout in milliseconds; 0 while it is not rendered. */
  readonly timeoutMs: number;
  readonly agentId: string;
  /** The words of the first condition that tells of a failure (rendering, boot Job), else "". */
  readonly problem: string;
  /** Set where a boot mode was asked for: the Job that Rufio ran for it. */
  readonly bootJob: string | null;
}

export interface ActionView {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly state: "PENDING" | "RUNNING" | "SUCCESS" | "FAILED" | "TIMEOUT";
  readonly message: string;
  readonly startedAtMs: number | null;
  readonly stoppedAtMs: number | null;
}

export interface JobView extends ObjectKey {
  readonly machine: string;
  readonly state: "open" | "completed" | "failed";
  /** True where every Task found belongs to this very Job (owner UID) and started after it was made. */
  readonly tasksAreOwn: boolean;
  /** The BMC's words from the failed Task's condition. */
  readonly problem: string;
}

export interface TemplateView {
  readonly data: string;
}

/** Common metadata of what fleetd makes: labels are added by the builders in manifests/. */
interface Manifest<K extends string, S> {
  readonly apiVersion: string;
  readonly kind: K;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: S;
}

export type HardwareManifest = Manifest<"Hardware", HardwareSpec>;
export type MachineManifest = Manifest<"Machine", MachineSpec>;
export type WorkflowManifest = Manifest<"Workflow", WorkflowSpec>;
export type JobManifest = Manifest<"Job", JobSpec>;

export interface HardwareSpec {
  readonly bmcRef?: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly disks: readonly { readonly device: string }[];
  readonly interfaces: readonly {
    readonly dhcp: { readonly mac: string; readonly hostname: string; readonly arch: string; readonly uefi: boolean };
    readonly netboot: { readonly allowPXE: boolean; readonly allowWorkflow: boolean };
  }[];
  readonly metadata: { readonly instance: { readonly id: string; readonly hostname: string } };
}

export interface MachineSpec {
  readonly connection: {
    readonly host: string;
    readonly port?: number;
    readonly insecureTLS: boolean;
    readonly authSecretRef: { readonly name: string; readonly namespace: string };
    readonly providerOptions: Readonly<Record<string, unknown>>;
  };
}

export interface WorkflowSpec {
  readonly templateRef: string;
  readonly hardwareRef: string;
  readonly hardwareMap: Readonly<Record<string, string>>;
  readonly disabled: boolean;
  readonly bootOptions?: { readonly bootMode: "netboot" };
}

export interface JobSpec {
  readonly machineRef: { readonly name: string; readonly namespace: string };
  readonly tasks: readonly { readonly powerAction: "off" }[];
}
