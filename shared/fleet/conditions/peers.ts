import { kind, reason } from "./_kind.ts";

/** Systems outside that do not answer. */
export const peerConditions = {
  BootPlaneUnavailable: kind("Tinkerbell's API does not answer.", null, {
    "boot-plane-unavailable": reason(
      "operator",
      "No run can be started, watched or ended.",
      "Tinkerbell's API answers.",
    ),
  }),
  ClusterUnavailable: kind("The workload cluster's API does not answer.", null, {
    "cluster-unavailable": reason(
      "operator",
      "A Node or a token that is to be deleted is still there.",
      "The workload cluster's API answers.",
    ),
  }),
};
