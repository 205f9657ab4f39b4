import { kind, reason } from "./_kind.ts";

/** Runs, the configuration that an install leaves to be read, and the node's way into the cluster. */
export const installConditions = {
  RunWaits: kind("A run's Workflow is there, and Tinkerbell makes nothing of it yet.", "warning", {
    "not-rendered": reason(
      "operator",
      "The class's Template is missing, or cannot be rendered; the message has Tinkerbell's words.",
      "The Template is mended: Tinkerbell tries again by itself, perhaps minutes later, and the run goes on.",
    ),
  }),
  RunFailed: kind("The last run did not do what it was for. Nothing is tried again by itself.", "warning", {
    failed: reason(
      "owner",
      "The run failed; the journal names the action, and whether the disk had been touched.",
      "The cause is mended, and the owner requests again.",
    ),
    stopped: reason(
      "owner",
      "Its Workflow was taken away before it ended, so nobody knows how far it came.",
      "The owner requests again.",
    ),
    "no-verdict": reason("owner", "The attest run ended, and the machine did not attest.", "The owner requests again."),
    expired: reason(
      "owner",
      "Installed, but the configuration was not read in time, and is gone.",
      "The owner requests provision.",
    ),
  }),
  ConfigUnread: kind("The disk is written, and the new system has not read its configuration yet.", null, {
    unread: reason("machine", "The machine has yet to boot its disk.", "The new system reads its configuration."),
  }),
  NodeMissing: kind("The machine has its configuration, and the workload cluster has no Node of it.", "warning", {
    "not-joined": reason(
      "machine",
      "The new system has not come to the cluster, or its Node was deleted there; the machine's console tells why.",
      "The Node is in the cluster.",
    ),
    "token-over": reason(
      "owner",
      "Its bootstrap token ended, and no CSR of it had been approved: it cannot join any more.",
      "The owner requests provision, once the console has told why it did not join.",
    ),
  }),
  NodeBootedHookOSAfterInstall: kind("The machine booted HookOS again in place of the system on its disk.", "danger", {
    "boot-order": reason(
      "owner",
      "Its firmware boots the network before the disk, so the configuration stays unread.",
      "The boot order is mended, and the machine boots its disk.",
    ),
  }),
  InstallConfigMissing: kind("A machine asks for a configuration that fleetd does not have any more.", "danger", {
    "config-missing": reason(
      "owner",
      "The configuration was lost before it was read.",
      "The owner requests provision.",
    ),
  }),
  InstallConfigRefetched: kind("Somebody uses an install code that has been used.", "danger", {
    "code-consumed": reason(
      "owner",
      "The code was read from the disk, the console or the network, or the machine installs itself again.",
      "The requests end, or a new provision ends.",
    ),
  }),
  InstallConfigContended: kind("Two readers used one install code while it was being served.", "danger", {
    "two-readers": reason("owner", "One of them is a stranger who had the code.", "The owner requests provision."),
  }),
  BootstrapTokenContended: kind("The node's bootstrap token was used by somebody else too.", "danger", {
    "second-user": reason(
      "owner",
      "A second key, or a second reader of the configuration, came while the token lived. It is deleted, and the Node cordoned.",
      "The owner requests provision.",
    ),
  }),
  OthersApprove: kind("The cluster approves bootstrap CSRs by itself, so fleetd's check on them is void.", "danger", {
    "others-approve": reason(
      "operator",
      "A ClusterRoleBinding gives nodeclient to a group that fleetd's tokens have.",
      "That ClusterRoleBinding is removed.",
    ),
  }),
  CsrRefused: kind("A CSR that bears the node's token or its name is left alone.", "warning", {
    "csr-refused": reason(
      "operator",
      "It does not ask for exactly what this node's kubelet asks for.",
      "A CSR that fits comes, or the token ends.",
    ),
    "csr-foreign": reason(
      "operator",
      "It names this node, and was not made with this node's token.",
      "Somebody who knows where it came from denies or deletes it; Kubernetes deletes a pending one after a day.",
    ),
  }),
};
