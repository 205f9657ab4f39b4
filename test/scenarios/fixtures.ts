import { type ClassTable, classTableSchema } from "../../shared/fleet/class.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { DEFAULT_DURATIONS, type FleetSettings } from "../../shared/fleet/limits.ts";

const EK = `sha256:${"a".repeat(64)}`;

export const CLASSES: ClassTable = classTableSchema.parse({
  "talos-worker": {
    os: "talos",
    workload: "worker",
    template: "provision",
    profile: "talos",
    secureBoot: "required",
    payload: "talos",
    reattest: "renew",
    attestation: "supported",
    installer: `registry.example/installer@sha256:${"b".repeat(64)}`,
    talos: { version: "v1.13.9", endpoint: "https://cluster.example:6443" },
    network: { gateway: "10.0.0.1", nameservers: ["10.0.0.1"] },
  },
  unpinned: {
    os: "talos",
    workload: "worker",
    template: "provision",
    profile: "talos",
    secureBoot: "required",
    payload: "talos",
    reattest: "renew",
    attestation: "supported",
    talos: { version: "v1.13.9", endpoint: "https://cluster.example:6443" },
  },
});

export const ACTIONS: Record<string, string[]> = {
  provision: ["disk-guard", "wait-code", "wipe", "install-talos", "next-boot", "reboot"],
  attest: ["reboot"],
  wipe: ["disk-guard", "wipe"],
  retire: ["disk-guard", "wipe", "erase", "poweroff"],
};

export const SETTINGS: FleetSettings = {
  durations: DEFAULT_DURATIONS,
  controlPlanes: false,
  maxDiskRuns: 5,
  shard: null,
  trustDomain: "example.org",
  bmcNetworks: ["10.9.0.0/16"],
  rpcPort: 8090,
  namespace: "tinkerbell",
  netboxUser: "fleetd",
  toolsImage: "registry.example/tools:1",
  deviceUrl: "https://enroll.example",
  switchPort: "report",
  unverifiedBoot: "refuse",
};

/** A planned worker with a BMC, a disk and a known MAC. */
export function aDevice(): Device {
  return {
    id: 7,
    name: "w1",
    serial: "SN0001",
    status: "planned",
    lastUpdated: "2026-11-29T12:00:00.000001Z",
    fleetClass: "talos-worker",
    desiredAction: null,
    installDisk: "nvme0n1",
    installDiskSerial: "S4XYNX0R123456",
    bmcType: "redfish",
    oobAddress: "10.9.0.7",
    approvedEks: [{ digest: EK, source: "SCAN:1" }],
    protected: false,
    clusterTokenApproved: false,
    address: "10.0.0.7/24",
    interfaces: [
      {
        id: 1,
        name: "eno1",
        managementOnly: false,
        primaryMac: "52:54:00:00:00:07",
        macs: ["52:54:00:00:00:07"],
        peer: null,
      },
    ],
    shown: {
      attestationVerdict: null,
      attestedAt: null,
      dbxHash: null,
      sbatLevel: null,
      fleetRun: null,
      fleetIdentity: null,
    },
  };
}
