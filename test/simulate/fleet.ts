import { type ClassTable, classTableSchema } from "../../shared/fleet/class.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { DEFAULT_DURATIONS, type FleetSettings } from "../../shared/fleet/limits.ts";
import type { PolicyTexts } from "../../shared/ports/policy.ts";
import { accepted, type Board } from "./hardware.ts";
import { FLEETD_USER } from "./peers/netbox.ts";
import type { Random } from "./random.ts";

const worker = {
  os: "talos",
  workload: "worker",
  template: "provision",
  profile: "strict",
  secureBoot: "required",
  payload: "talos",
  reattest: "renew",
  attestation: "supported",
  installer: `registry.example/installer@sha256:${"b".repeat(64)}`,
  talos: { version: "v1.13.9", endpoint: "https://cluster.example:6443" },
  network: { gateway: "10.0.0.1", nameservers: ["10.0.0.1"] },
};
const { installer: _installer, ...unpinned } = worker;

export const CLASSES: ClassTable = classTableSchema.parse({
  worker,
  unpinned,
  controlplane: { ...worker, workload: "controlplane" },
  unrendered: {
    ...worker,
    os: "nixos",
    workload: "none",
    payload: "nixos-image",
    image: "https://images.example/nixos.raw",
    image_digest: `sha256:${"c".repeat(64)}`,
    image_format: "raw",
  },
  bare: { ...worker, workload: "none", payload: "none", reattest: "none" },
  old: { ...worker, workload: "none", payload: "none", profile: null, attestation: "unsupported", reattest: "none" },
});

/** What no record, line, log or store may show. */
export const TALOS_SECRETS = ["cluster-secret-0123456789", "trustd.0123456789abcdef"] as const;

const pem = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
export const POLICY: PolicyTexts = {
  classes: CLASSES,
  classInputs: null,
  ekPins: null,
  profiles: {
    strict: {
      name: "strict",
      bank: "sha256",
      authorities: [{ pem: accepted.pem, for: ["hookos", "os"] }],
      hookosMarker: "fleet_hookos=1",
      osMarker: "fleet_os=1",
    },
  },
  talosSecrets: {
    cluster: { id: "cluster-id", secret: TALOS_SECRETS[0] },
    trustdinfo: { token: TALOS_SECRETS[1] },
    certs: { os: pem("os ca"), k8s: pem("k8s ca") },
  },
};

export function settingsOf(random: Random): FleetSettings {
  return {
    durations: DEFAULT_DURATIONS,
    controlPlanes: random.chance(0.5),
    shard: null,
    maxDiskRuns: 1 + random.below(3),
    trustDomain: "example.org",
    bmcNetworks: ["10.9.0.0/16"],
    rpcPort: 8090,
    namespace: "tinkerbell",
    netboxUser: FLEETD_USER,
    toolsImage: "registry.example/tools:1",
    deviceUrl: "https://enroll.example",
    switchPort: "report",
    unverifiedBoot: "refuse",
  };
}

/** What an owner declares of the n-th machine. */
export function declared(n: number, board: Board, fleetClass: string, hasBmc: boolean): Omit<Device, "lastUpdated"> {
  const id = n + 1;
  const eks = n === 0 ? board.digests : [board.digests[1]];
  return {
    id,
    name: `w${id}`,
    serial: `SN000${id}`,
    status: "planned",
    fleetClass,
    desiredAction: null,
    installDisk: "nvme0n1",
    installDiskSerial: `DISK000${id}`,
    bmcType: hasBmc ? "redfish" : null,
    oobAddress: hasBmc ? `10.9.0.${id}` : null,
    approvedEks: eks.map((digest) => ({ digest, source: "SCAN:1" })),
    protected: false,
    clusterTokenApproved: false,
    address: `10.0.0.${id}/24`,
    interfaces: [{ id: 100 + id, name: "eno1", managementOnly: false, primaryMac: null, macs: [], peer: null }],
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
