import type { JournalLevel } from "./device.ts";

interface ConditionKind {
  /** What it means, for `explain` and the page. */
  readonly means: string;
  /** Who must act. */
  readonly who: "owner" | "machine" | "fleetd" | "operator";
  /** What clears it. */
  readonly clears: string;
  /** Level of its one JournalEntry; null: shown, never journaled. */
  readonly level: JournalLevel | null;
}

const kind = (means: string, who: ConditionKind["who"], clears: string, level: JournalLevel | null): ConditionKind => ({
  means,
  who,
  clears,
  level,
});

/** The closed list of conditions: the one language of journal, lookups, metrics and page (spec/30, "Conditions"). */
export const CONDITIONS = {
  RequestWaits: kind(
    "A request waits for what its message names.",
    "owner",
    "What its message names is changed.",
    "warning",
  ),
  RequestHeld: kind(
    "A request is older than fleetd's memory, or has no change-log entry.",
    "owner",
    "The owner sets the request again.",
    "warning",
  ),
  RequestsUnreadable: kind("NetBox's change log cannot be read.", "operator", "It can be read again.", null),
  StatusForbids: kind(
    "The status forbids the request.",
    "owner",
    "The owner sets the device planned first.",
    "warning",
  ),
  StatusUnknown: kind(
    "fleetd leaves devices of this status alone.",
    "owner",
    "The owner sets a status it knows.",
    null,
  ),
  StatusNotEarned: kind(
    "NetBox says active, but fleetd served no configuration.",
    "owner",
    "The owner sets the device planned, and it installs.",
    "warning",
  ),
  OfflineWithoutRetirement: kind(
    "NetBox says offline, but fleetd did not retire the device.",
    "owner",
    "The owner sets it decommissioning or planned.",
    "warning",
  ),
  WaitsForMachine: kind(
    "A planned device installs when its machine netboots and attests.",
    "machine",
    "The machine boots HookOS and passes.",
    null,
  ),
  NoRequest: kind(
    "A planned device without a fresh request is never written to.",
    "owner",
    "The owner requests provision.",
    null,
  ),
  NoBinding: kind(
    "approved_eks binds no TPM to the device.",
    "owner",
    'approved_eks holds [{"digest": "sha256:<64 hex>", "source": "SCAN:… or SUPPLIER:…"}] from independent evidence.',
    "warning",
  ),
  InterfaceUnclear: kind(
    "NetBox does not say which interface the machine boots from.",
    "owner",
    "The device has one host interface, or one with a cable; then the machine attests again.",
    "warning",
  ),
  MacUnknown: kind(
    "No MAC is recorded, so the boot plane cannot address the machine.",
    "machine",
    "The machine netboots and attests once.",
    null,
  ),
  NetbootByHand: kind(
    "The device has no BMC: its run waits for a netboot.",
    "owner",
    "Netboot the machine.",
    "warning",
  ),
  BmcRefused: kind("The declared BMC cannot be used.", "owner", "The OOB IP is corrected.", "warning"),
  IdentityChanged: kind(
    "Serial or approved EKs changed: nothing is minted or served.",
    "owner",
    "The device is set planned after independent evidence, or the change is taken back.",
    "danger",
  ),
  InstalledName: kind(
    "The node keeps the name that it was installed with.",
    "owner",
    "A new provision, or the name is changed back.",
    "warning",
  ),
  AttestationFailed: kind(
    "The last quote missed the boot policy.",
    "owner",
    "A passing attestation, or a new provision.",
    "danger",
  ),
  AttestationOld: kind(
    "The running node has not proven itself for too long: it is not listed for SPIRE.",
    "machine",
    "A passing renewal.",
    "warning",
  ),
  Quarantined: kind(
    "The worker is cordoned, tainted and gets no renewal.",
    "owner",
    "A passing quote of the kind that its reason names, or a new provision.",
    "danger",
  ),
  MachineWaits: kind(
    "The machine was told to wait or refused; its reason says why.",
    "owner",
    "What the reason names is mended and the machine attests again.",
    "warning",
  ),
  RunFailed: kind("The last run failed.", "owner", "The owner requests again.", "warning"),
  ConfigUnread: kind("Installed, but the configuration is not read yet.", "machine", "The machine reads it.", null),
  NodeBootedHookOSAfterInstall: kind(
    "The machine booted HookOS again with its configuration unread.",
    "owner",
    "Mend the boot order; the machine boots its disk.",
    "danger",
  ),
  InstallConfigMissing: kind(
    "The machine asks for a configuration that is lost.",
    "owner",
    "The owner requests provision.",
    "danger",
  ),
  InstallConfigRefetched: kind(
    "A consumed install code is used again.",
    "owner",
    "The requests end, or a new provision.",
    "danger",
  ),
  InstallConfigContended: kind(
    "Two readers used one install code.",
    "owner",
    "The owner requests provision.",
    "danger",
  ),
  BootstrapTokenContended: kind(
    "A second key asked for a certificate with the node's token.",
    "owner",
    "The owner requests provision.",
    "danger",
  ),
  OthersApprove: kind(
    "The cluster approves bootstrap CSRs by itself.",
    "operator",
    "The ClusterRoleBinding to nodeclient is removed.",
    "danger",
  ),
  CsrRefused: kind("A CSR of the device's token does not fit.", "operator", "A fitting CSR comes.", "warning"),
  RetirementWaits: kind("Retirement waits for the step that its reason names.", "fleetd", "The step works.", "info"),
  RetirementStuck: kind("The BMC has not said off.", "owner", "The BMC says off.", "danger"),
  BootPlaneUnavailable: kind("Tinkerbell's API does not answer.", "operator", "It answers.", null),
  ClusterUnavailable: kind("The workload cluster's API does not answer.", "operator", "It answers.", null),
  StoreUnavailable: kind("The store does not answer.", "operator", "It answers.", null),
} as const satisfies Record<string, ConditionKind>;

export type ConditionType = keyof typeof CONDITIONS;

export interface Condition {
  readonly type: ConditionType;
  /** Stable code in kebab case, often one of the protocol's. */
  readonly reason: string;
  readonly message: string;
  /** Run name or request id that it speaks of, or "". */
  readonly about: string;
}
