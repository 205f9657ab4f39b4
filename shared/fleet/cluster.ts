/** The workload cluster's objects, as far as fleetd reads them (kube-apiserver 1.36, facts/kubernetes-tinkerbell.md). */
export interface NodeView {
  readonly name: string;
  readonly uid: string;
  readonly unschedulable: boolean;
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
}

export interface NodePatch {
  readonly unschedulable: boolean;
  /** fleetd's own quarantine taint: there, or not. Other taints stay. */
  readonly quarantineTaint: boolean;
  /** Value of the annotation fleetd.dev/cordon: why fleetd cordoned; null removes it. */
  readonly cordonReason: string | null;
}

export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly phase: string;
  readonly terminating: boolean;
  readonly mirror: boolean;
  readonly daemonSet: boolean;
}

export interface CsrView {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly username: string;
  readonly groups: readonly string[];
  readonly signerName: string;
  readonly usages: readonly string[];
  readonly createdAtMs: number;
  readonly decision: "pending" | "approved" | "denied" | "failed";
  /** Read from the PKCS#10 in spec.request; null where it cannot be read. */
  readonly request: CsrRequest | null;
}

export interface CsrRequest {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** True where the subject holds anything but one CN and the organizations. */
  readonly otherSubject: boolean;
  readonly hasSan: boolean;
  readonly keyType: "EC" | "RSA" | "other";
  /** SHA-256 of the SubjectPublicKeyInfo, lower-case hex. */
  readonly spkiSha256: string;
}

/** A bootstrap token without its secret half (which lives only in the sealed payload and in the cluster). */
export interface BootstrapToken {
  readonly id: string;
  readonly deviceId: number;
  readonly node: string;
  readonly expiresAtMs: number;
}

/** A bootstrap token as the cluster has it: what is read of fleetd's own, never the secret half. */
export type TokenView = Pick<BootstrapToken, "id" | "deviceId"> & {
  /** Null where the Secret does not say, and the token lives for ever. */
  readonly expiresAtMs: number | null;
};

/** Extra group of fleetd's per-node tokens: no auto-approve binding applies to it (facts/talos.md 4.2). */
export const TOKEN_GROUP = "system:bootstrappers:fleetd";
export const KUBELET_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";
export const QUARANTINE_TAINT = "fleetd.dev/quarantine";
export const CORDON_ANNOTATION = "fleetd.dev/cordon";
