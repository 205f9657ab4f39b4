import { kind, reason } from "./_kind.ts";

/** The way out of the fleet. */
export const retirementConditions = {
  RetirementWaits: kind("The retirement goes on by itself, and is at one of its steps.", "info", {
    "run-in-the-way": reason(
      "fleetd",
      "Another run of the device is under way, and without a BMC it cannot be stopped.",
      "That run ends, or its deadline passes.",
    ),
    erasing: reason("fleetd", "The disk is being wiped and erased.", "The retirement's run ends."),
    "back-off": reason(
      "fleetd",
      "An attempt to erase the disk failed; the journal names the action, or what the BMC said.",
      "The next attempt ends well: it follows after 5 minutes, then after twice as long, up to 4 hours.",
    ),
    "bmc-off": reason("fleetd", "The BMC has yet to say that the machine is off.", "The BMC says off."),
    "cluster-unavailable": reason(
      "operator",
      "The workload cluster does not answer, so the Node cannot be drained.",
      "The workload cluster answers.",
    ),
    draining: reason(
      "fleetd",
      "Pods are being evicted from the Node.",
      "All pods are gone, or ten minutes have passed: the machine is erased and off.",
    ),
  }),
  RetirementStuck: kind("The retirement waits for longer than it should.", "danger", {
    "bmc-off": reason(
      "owner",
      "The BMC has not said off: the machine may still be on, or the BMC does not answer.",
      "The BMC says off. A person who saw the machine off may set the device offline by hand.",
    ),
  }),
};
