import { kind, reason } from "./_kind.ts";

/** What stands between an owner's request and its run: the gates in their order, then what waits for others. */
export const requestConditions = {
  RequestWaits: kind("A request is fresh, and waits. Nothing is wiped meanwhile, and the request stays.", "warning", {
    "name-invalid": reason(
      "owner",
      "The device's name or serial cannot be used.",
      "The name is a DNS-1123 label of at most 40 characters, and the serial is the machine's own.",
    ),
    "inventory-conflict": reason(
      "owner",
      "The device shares a value with another device of the fleet that only one may have.",
      "NetBox is corrected: the message names the value and the other device. A Node keeps its name until its device is provisioned again or retired; of two devices that swapped names one needs a third name first.",
    ),
    "class-unknown": reason(
      "owner",
      "fleet_class names no class of FLEET_CLASSES.",
      "fleet_class names one of the classes in the message.",
    ),
    protected: reason(
      "owner",
      "The device is protected, so no run may touch its disk.",
      "The owner takes the protection away.",
    ),
    "disk-missing": reason(
      "owner",
      "install_disk names no disk.",
      "install_disk holds a kernel name, such as nvme0n1.",
    ),
    "disk-serial-missing": reason(
      "owner",
      "install_disk_serial names no disk, so the right one could not be told from another.",
      "install_disk_serial holds the serial that the disk itself reports.",
    ),
    "pin-incomplete": reason(
      "operator",
      "It is not settled what the install would write.",
      "The class has a complete pin.",
    ),
    "address-missing": reason(
      "owner",
      "The device has no address to configure it with.",
      "The device has a primary IPv4 address in NetBox.",
    ),
    "unsupported-class": reason(
      "operator",
      "The class asks for a payload that this fleetd cannot render.",
      "The class names a payload that has a renderer.",
    ),
    "control-planes-off": reason(
      "operator",
      "Control planes are not installed by this fleetd.",
      "fleetd runs with FLEET_CONTROL_PLANES=true.",
    ),
    "cluster-token": reason(
      "owner",
      "The class asks for the cluster-wide token, which the owner has not approved for this device.",
      "cluster_token_approved is true.",
    ),
    "request-held": reason(
      "owner",
      "NetBox went back in time, so what it asks may be an old request.",
      "The owner sets the request again.",
    ),
    "identity-changed": reason(
      "owner",
      "approved_eks changed after the machine passed, and no owner accepted the change.",
      "An owner sets the device planned with that change or after it, or takes the change back.",
    ),
    "run-preparing": reason(
      "owner",
      "The run before it passed its deadline and may still be executing.",
      "The machine is netbooted, and attests.",
    ),
    slot: reason("fleetd", "As many disk runs as FLEET_MAX_DISK_RUNS allows are under way.", "One of them ends."),
    "cluster-unavailable": reason(
      "operator",
      "The workload cluster does not answer, and the device has a Node there.",
      "The workload cluster answers.",
    ),
    "other-run": reason("fleetd", "Another run of the device is under way.", "That run ends."),
    decommissioning: reason(
      "fleetd",
      "The device is being retired.",
      "The retirement ends; the request is cleared then.",
    ),
  }),
  RequestHeld: kind("A request is not carried out, since it may be an old one.", "warning", {
    "request-held": reason(
      "owner",
      "The request is older than fleetd's memory, or NetBox's change log has no entry for it by an owner.",
      "The owner sets the request again, or an administrator runs fleetctl accept DEVICE.",
    ),
  }),
  RequestsUnreadable: kind(
    "NetBox's change log cannot be read, so that nobody can tell whether a request is fresh.",
    null,
    {
      "change-log": reason(
        "operator",
        "NetBox does not answer, or fleetd's account may not read core.objectchange.",
        "The change log can be read, or an administrator runs fleetctl accept DEVICE.",
      ),
    },
  ),
  StatusForbids: kind("The device's status forbids its request.", "warning", {
    offline: reason("owner", "An offline device takes no request.", "The owner sets the device planned first."),
  }),
  StatusUnknown: kind("The device's status is none of those that fleetd uses.", null, {
    status: reason(
      "owner",
      "fleetd leaves devices of this status alone.",
      "The status is planned, active, decommissioning or offline.",
    ),
  }),
  StatusNotEarned: kind("NetBox says active, but fleetd does not know of an installed system.", "warning", {
    "not-served": reason(
      "owner",
      "fleetd served no configuration to this device: no credential is renewed, and it is not listed for SPIRE.",
      "The owner sets the device planned and it installs, or an administrator runs fleetctl adopt DEVICE.",
    ),
  }),
  OfflineWithoutRetirement: kind("NetBox says offline, but fleetd did not retire the device.", "warning", {
    "not-retired": reason(
      "owner",
      "Its disk is not erased as far as fleetd knows. No credential is renewed, and it is not listed for SPIRE.",
      "The owner sets it decommissioning or planned.",
    ),
  }),
  WaitsForMachine: kind("All is ready for the first install.", null, {
    "no-machine": reason(
      "machine",
      "A planned device is installed when its machine netboots and attests.",
      "The machine boots HookOS and passes.",
    ),
  }),
  NoRequest: kind("A planned device has no fresh request.", null, {
    "no-request": reason(
      "owner",
      "Its last install, provision or wipe is done or failed, and fleetd never writes to a disk by itself.",
      "The owner requests provision.",
    ),
  }),
};
