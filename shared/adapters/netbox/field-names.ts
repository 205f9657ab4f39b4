/** The custom fields' names in NetBox, by what they hold (spec/00, "NetBox"; names are settings). */
export interface FieldNames {
  readonly desiredAction: string;
  readonly fleetClass: string;
  readonly installDisk: string;
  readonly installDiskSerial: string;
  readonly bmcType: string;
  readonly approvedEks: string;
  readonly protected: string;
  readonly clusterTokenApproved: string;
  readonly attestationVerdict: string;
  readonly attestedAt: string;
  readonly dbxHash: string;
  readonly sbatLevel: string;
  readonly fleetRun: string;
  readonly fleetIdentity: string;
  /** Of prefixes; all others are of devices. */
  readonly gateway: string;
}

export const defaultFieldNames: FieldNames = {
  desiredAction: "desired_action",
  fleetClass: "fleet_class",
  installDisk: "install_disk",
  installDiskSerial: "install_disk_serial",
  bmcType: "bmc_type",
  approvedEks: "approved_eks",
  protected: "protected",
  clusterTokenApproved: "cluster_token_approved",
  attestationVerdict: "attestation_verdict",
  attestedAt: "attested_at",
  dbxHash: "dbx_hash",
  sbatLevel: "sbat_level",
  fleetRun: "fleet_run",
  fleetIdentity: "fleet_identity",
  gateway: "gateway",
};
