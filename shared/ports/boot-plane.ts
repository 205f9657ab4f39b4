import type {
  BootPlaneObjects,
  HardwareManifest,
  JobManifest,
  MachineManifest,
  TemplateView,
  WorkflowManifest,
} from "../fleet/boot-plane.ts";

/**
 * Tinkerbell's Kubernetes API: Hardware, Workflow, Machine, Job, Template. Reads and changes only objects with fleetd's
 * labels. Every method throws PortError; writes go out with fieldValidation=Strict.
 */
export interface BootPlanePort {
  /** All labelled objects; `deviceIds` narrows to those devices'. */
  objects(deviceIds?: readonly number[]): Promise<BootPlaneObjects>;
  /** Creates the Hardware or Machine, or patches what differs (the annotations of others stay). */
  apply(manifest: HardwareManifest | MachineManifest): Promise<void>;
  /** `conflict` where the name exists. */
  create(manifest: WorkflowManifest | JobManifest): Promise<void>;
  /** PATCH disabled:false with UID and resourceVersion; `conflict` where either moved. */
  enableWorkflow(name: string, uid: string, resourceVersion: string): Promise<void>;
  /** Deletes with preconditions and reads until 404; an object that is gone already is success. */
  remove(
    kind: "Hardware" | "Machine" | "Workflow" | "Job",
    name: string,
    uid: string,
    resourceVersion?: string,
  ): Promise<void>;
  /** The Template's text and its actions by name, image and timeout; null where there is none of that name. */
  template(name: string): Promise<TemplateView | null>;
}
