import { defaultFieldNames as names } from "../../../shared/adapters/netbox/field-names.ts";

export interface WantedField {
  readonly name: string;
  /** NetBox's types that fleetd can work with; a field that is not there is made with the first. */
  readonly types: readonly [string, ...string[]];
  readonly of: "dcim.device" | "ipam.prefix";
  readonly description: string;
  /** Written by fleetd, or emptied by it: a field that may not be empty, or that fills itself, would break or undo that. */
  readonly written: boolean;
  readonly choices?: WantedChoices;
  /** Given to a new device when all else of it is there: until then it must be empty. */
  readonly last?: true;
}

export interface WantedChoices {
  readonly set: string;
  readonly values: readonly (readonly [value: string, label: string])[];
}

const owners = (name: string, types: WantedField["types"], description: string): WantedField => ({
  name,
  types,
  of: "dcim.device",
  description,
  written: false,
});
const fleetds = (name: string, types: WantedField["types"], description: string): WantedField => ({
  ...owners(name, types, `${description}; written by fleetd`),
  written: true,
});

/** The custom fields of spec/00, "NetBox". */
export const WANTED_FIELDS: readonly WantedField[] = [
  {
    ...owners(names.desiredAction, ["select"], "Request to fleetd: cleared when it is taken up"),
    written: true,
    choices: {
      set: "fleet_desired_action",
      values: [
        ["provision", "Provision"],
        ["attest", "Attest"],
        ["wipe", "Wipe"],
      ],
    },
  },
  { ...owners(names.fleetClass, ["text", "select"], "Class of fleetd's FLEET_CLASSES"), last: true },
  owners(names.installDisk, ["text"], "Kernel name of the disk that is wiped and installed, such as nvme0n1"),
  owners(names.installDiskSerial, ["text"], "Serial that this disk itself reports"),
  owners(names.bmcType, ["text", "select"], "redfish, amt, ipmi or rpc; its address is the OOB IP"),
  owners(names.approvedEks, ["json"], 'TPM keys by independent evidence: [{"digest": "sha256:…", "source": "SCAN:…"}]'),
  owners(names.protected, ["boolean"], "No run of fleetd's may touch the disk"),
  owners(names.clusterTokenApproved, ["boolean"], "May be given the cluster-wide bootstrap token"),
  {
    ...fleetds(names.attestationVerdict, ["select", "text"], "Verdict on the last evidence"),
    choices: {
      set: "fleet_attestation_verdict",
      values: [
        ["pass", "Pass"],
        ["fail", "Fail"],
      ],
    },
  },
  fleetds(names.attestedAt, ["datetime"], "When that was"),
  fleetds(names.dbxHash, ["text"], "SHA-256 of the firmware's dbx"),
  fleetds(names.sbatLevel, ["text"], "SbatLevel of the boot"),
  fleetds(names.fleetRun, ["json"], "The last run and what came of it"),
  fleetds(names.fleetIdentity, ["json"], "Serial numbers and keys of the machine's certificates"),
  {
    ...owners(names.gateway, ["text"], "Gateway that fleetd gives to machines with an address of this prefix"),
    of: "ipam.prefix",
  },
];
