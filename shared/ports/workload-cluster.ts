import type { BootstrapToken, CsrView, NodePatch, NodeView, PodView, TokenView } from "../fleet/cluster.ts";

/** The cluster that the installed nodes join, seen through its Nodes and pods. Every method throws PortError. */
export interface ClusterNodesPort {
  /** Nodes of the given names (all labelled or not: names come from NetBox). */
  nodes(names: readonly string[]): Promise<NodeView[]>;
  /** Cordon, taint and annotation in one merge patch with the UID as precondition; `conflict` where it moved. */
  patchNode(name: string, uid: string, patch: NodePatch): Promise<void>;
  pods(node: string): Promise<PodView[]>;
  /** Eviction with the pod's UID: `accepted`, `blocked` (a PodDisruptionBudget or throttling, with its words), `gone`. */
  evict(pod: PodView): Promise<{ readonly answer: "accepted" | "blocked" | "gone"; readonly detail: string }>;
  /** Deletes the Node with the UID as precondition and its Lease in kube-node-lease; 404 is success. */
  deleteNode(name: string, uid: string): Promise<void>;
}

/** The cluster's door for new nodes: bootstrap tokens and kubelet client CertificateSigningRequests. */
export interface ClusterCredentialsPort {
  /** Pending and decided CSRs of signer kube-apiserver-client-kubelet. */
  csrs(): Promise<CsrView[]>;
  /** PUT …/approval with the UID and resourceVersion of the object that was judged. */
  approve(csr: CsrView, message: string): Promise<void>;
  deleteCsr(name: string, uid: string): Promise<void>;
  /** Creates Secret bootstrap-token-<id>; the same id again with the same content is success. */
  createToken(token: BootstrapToken, secret: string): Promise<void>;
  /** Bootstrap tokens with fleetd's labels, of all devices or of these: the secret half is not kept. */
  bootstrapTokens(deviceIds?: readonly number[]): Promise<TokenView[]>;
  /** 404 is success. */
  deleteToken(id: string): Promise<void>;
  /** True where the controller manager itself would approve CSRs of the group (SubjectAccessReview). */
  othersApprove(group: string): Promise<boolean>;
}

export type WorkloadClusterPort = ClusterNodesPort & ClusterCredentialsPort;
