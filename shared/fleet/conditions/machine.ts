import type { RefusalCode } from "../../attest/verdict.ts";
import { kind, type Reason, reason } from "./_kind.ts";
import { bootRefusals } from "./refusals.ts";

const AGAIN = "then the machine attests again";

/** What a machine is told by begin, evidence and confirm, or a node by its renewal, where a person must know of it. */
const told = {
  ...bootRefusals,
  "ambiguous-serial": reason(
    "owner",
    "Several devices have the serial that the machine has.",
    `NetBox is corrected; ${AGAIN}.`,
  ),
  "inventory-conflict": reason(
    "owner",
    "The device shares a value with another device of the fleet that only one may have.",
    `NetBox is corrected (a Node keeps its name until its device is provisioned again or retired); ${AGAIN}.`,
  ),
  "not-expected": reason(
    "owner",
    "A machine with this device's serial attests, but the device's status lets none in.",
    `The owner sets it planned, if the machine is to come back; ${AGAIN}.`,
  ),
  "not-planned": reason(
    "owner",
    "The device left planned while it was being installed.",
    "The owner sets it planned again, and requests provision.",
  ),
  "uuid-conflict": reason(
    "owner",
    "The machine's UUID is another device's, or not the one that this device attested with before.",
    `NetBox is corrected where two devices are one machine; for another mainboard, the owner sets the device planned; ${AGAIN}.`,
  ),
  "ek-not-approved": reason(
    "owner",
    "A machine with this device's serial has a TPM that nobody approved for it.",
    `approved_eks holds the EKs of an independent record (fleetctl claims, fleetctl approve); ${AGAIN}.`,
  ),
  "ek-missing": reason(
    "owner",
    "The machine did not present every approved EK: it has another TPM, or approved_eks names a key too many.",
    `approved_eks fits the supplier's record; ${AGAIN}.`,
  ),
  "ek-not-pinned": reason(
    "operator",
    "An approved EK lies outside the pins that git holds for this device (FLEET_EK_PINS).",
    `The pin or approved_eks is corrected; ${AGAIN}.`,
  ),
  "ek-template": reason(
    "owner",
    "An approved EK is of a template that no profile of the TCG has, so it proves nothing.",
    `approved_eks names another EK of that TPM; ${AGAIN}.`,
  ),
  "identity-changed": reason(
    "owner",
    "Serial or approved EKs in NetBox are not those that the machine proved before.",
    `The change is taken back, or an owner accepts it by setting the device planned; ${AGAIN}.`,
  ),
  "mac-conflict": reason(
    "owner",
    "The MAC that the machine booted from is recorded on another device.",
    `NetBox is corrected; ${AGAIN}.`,
  ),
  "interface-ambiguous": reason(
    "owner",
    "NetBox does not say which interface the machine boots from.",
    `The device has one host interface, or one with a cable; ${AGAIN}.`,
  ),
  "switch-port-mismatch": reason(
    "owner",
    "The machine is not at the switch port that its cable in NetBox declares.",
    `The cable is plugged as declared, or declared as plugged; ${AGAIN}.`,
  ),
  "boot-unverified": reason(
    "operator",
    "The class asks for no Secure Boot, so its boot proves nothing and it gets no install code.",
    "The class asks for Secure Boot, or fleetd runs with FLEET_UNVERIFIED_BOOT=accept.",
  ),
  "config-being-served": reason(
    "fleetd",
    "An earlier configuration of this device is being served right now.",
    `That serving ends; ${AGAIN}.`,
  ),
  "code-consumed": reason(
    "owner",
    "The run's install code was used already, so it gets no other.",
    "The owner requests provision.",
  ),
  "run-preparing": reason("fleetd", "The run is being prepared.", "The machine attests again, as it does by itself."),
  "no-request": reason("owner", "The device has no fresh request.", "The owner requests provision."),
  "request-held": reason(
    "owner",
    "The request is not carried out, since it may be an old one.",
    "The owner sets the request again, or an administrator runs fleetctl accept DEVICE.",
  ),
  slot: reason(
    "fleetd",
    "As many disk runs as FLEET_MAX_DISK_RUNS allows are under way.",
    `One of them ends; ${AGAIN}.`,
  ),
  protected: reason(
    "owner",
    "The device is protected, so no run may touch its disk.",
    `The owner takes the protection away; ${AGAIN}.`,
  ),
  "name-invalid": reason("owner", "The device's name or serial cannot be used.", `NetBox is corrected; ${AGAIN}.`),
  "disk-missing": reason("owner", "install_disk names no disk.", `It holds a kernel name; ${AGAIN}.`),
  "disk-serial-missing": reason(
    "owner",
    "install_disk_serial names no disk.",
    `It holds the serial that the disk itself reports; ${AGAIN}.`,
  ),
  "pin-incomplete": reason(
    "operator",
    "It is not settled what the install would write, or the device has no address to configure.",
    `The class has a complete pin and a renderer, and the device a primary address; ${AGAIN}.`,
  ),
  "unsupported-class": reason(
    "operator",
    "The class asks for a payload that this fleetd cannot render.",
    `The class names a payload that has a renderer; ${AGAIN}.`,
  ),
  "class-unknown": reason("owner", "fleet_class names no class of FLEET_CLASSES.", `It names one; ${AGAIN}.`),
  "control-planes-off": reason(
    "operator",
    "Control planes are not installed by this fleetd.",
    `fleetd runs with FLEET_CONTROL_PLANES=true; ${AGAIN}.`,
  ),
  "inventory-unavailable": reason(
    "operator",
    "NetBox does not answer, or its change log cannot be read.",
    `NetBox answers; ${AGAIN}.`,
  ),
  "boot-plane-unavailable": reason("operator", "Tinkerbell's API does not answer.", `It answers; ${AGAIN}.`),
  "cluster-unavailable": reason("operator", "The workload cluster does not answer.", `It answers; ${AGAIN}.`),
} as const satisfies Partial<Record<RefusalCode, Reason>>;

/** The machine's way to fleetd: its keys, its interface, its BMC, and what it was last told. */
export const machineConditions = {
  NoBinding: kind("No TPM is bound to the device, so no machine can be it.", "warning", {
    "approved-eks-empty": reason(
      "owner",
      "approved_eks is empty.",
      'approved_eks holds [{"digest": "sha256:<64 hex>", "source": "SCAN:… or SUPPLIER:…"}] from independent evidence.',
    ),
    "approved-eks-malformed": reason(
      "owner",
      "approved_eks cannot be read.",
      'approved_eks holds [{"digest": "sha256:<64 hex>", "source": "SCAN:… or SUPPLIER:…"}], each with its source.',
    ),
  }),
  InterfaceUnclear: kind("NetBox does not say which interface the machine boots from.", "warning", {
    "interface-ambiguous": reason(
      "owner",
      "The device has no host interface, or several and no single declared cable.",
      `The device has one host interface, or one with a cable; ${AGAIN}.`,
    ),
  }),
  MacUnknown: kind("The boot plane cannot address the machine.", null, {
    "mac-unknown": reason(
      "machine",
      "No MAC is recorded on a host interface of the device.",
      "The machine netboots and attests once.",
    ),
  }),
  NetbootByHand: kind("A run waits for its machine's netboot.", "warning", {
    "no-bmc": reason("owner", "The device has no BMC, so fleetd cannot start it.", "A person netboots the machine."),
  }),
  BmcRefused: kind("The declared BMC cannot be used.", "warning", {
    "bmc-type-unknown": reason(
      "owner",
      "bmc_type names no type that fleetd knows.",
      "bmc_type is one of the message's.",
    ),
    "bmc-address-missing": reason(
      "owner",
      "bmc_type is set, but the device has no OOB IP.",
      "The device has an OOB IP.",
    ),
    "bmc-address-refused": reason(
      "owner",
      "The OOB IP lies outside FLEET_BMC_NETWORKS, and the BMC's password is not sent to strangers.",
      "The OOB IP is corrected, or the operator adds its network.",
    ),
  }),
  MachineWaits: kind("The machine asked to be let in, and was told to wait or refused.", "warning", told),
};
