import type { ConditionType, ReasonOf } from "../../../shared/fleet/condition.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { workflowName } from "../../../shared/fleet/manifests/workflow.ts";
import type { Observed } from "../../../shared/fleet/observed.ts";
import type { DeviceRecord } from "../../../shared/fleet/record.ts";
import { identityOf } from "../../scenarios/acts.ts";
import { aDevice, CLASSES } from "../../scenarios/fixtures.ts";
import { Model } from "../../scenarios/model.ts";
import {
  cluster,
  config,
  EKS,
  ended,
  installed,
  MORE,
  misfit,
  NOW,
  node,
  plane,
  REQUEST,
  retire,
  run,
  TALOS,
  token,
  verdict,
  workflow,
} from "./parts.ts";

/** MachineWaits and AttestationFailed hold codes that handlers and verdicts write: another test looks for those. */
type Planned = Exclude<ConditionType, "MachineWaits" | "AttestationFailed" | "Vanished" | "MassVanish">;
type Pair = { [T in Planned]: `${T}/${ReasonOf<T>}` }[Planned];

export interface World {
  readonly device?: Partial<Device>;
  readonly record?: Partial<DeviceRecord>;
  readonly asks?: Parameters<Model["owner"]>[0];
  readonly seen?: Partial<Observed>;
}

const leaving = { status: "decommissioning" };
const NO_BMC = { bmcType: null };
const wipe = { desiredAction: "wipe" };
const provision = { desiredAction: "provision" };
const slots = [1, 2, 3, 4, 5].map((deviceId) => ({ deviceId, run: "r", sinceMs: NOW }));
const OTHER_EK = [{ digest: `sha256:${"d".repeat(64)}`, source: "SCAN:2" }];
const gate = (device: Partial<Device>, asks: World["asks"] = wipe, seen: Partial<Observed> = {}): World => ({
  device,
  asks,
  seen,
});
const erasedRun = ended("erased", { kind: "retire", name: "f7-retire-d1-1" });
const begins = { bootPlane: plane(workflow({ state: "PENDING", actions: [] })) };
const unread = { record: { run: ended("unread", { terminal: null }), config: config() } };

/** A world for each condition that the planner can say. */
export const WORLDS: Readonly<Record<Pair, World>> = {
  "RequestWaits/name-invalid": gate({ name: "-w1" }),
  "RequestWaits/inventory-conflict": gate({}, wipe, { conflict: "shares its serial with w2" }),
  "RequestWaits/class-unknown": gate({ fleetClass: "none-such" }),
  "RequestWaits/protected": gate({ protected: true }),
  "RequestWaits/disk-missing": gate({ installDisk: null }),
  "RequestWaits/disk-serial-missing": gate({ installDiskSerial: null }),
  "RequestWaits/pin-incomplete": gate({ fleetClass: "unpinned" }, provision),
  "RequestWaits/address-missing": gate({ address: null }, provision),
  "RequestWaits/unsupported-class": gate({ fleetClass: "imaged" }, provision, { classes: MORE }),
  "RequestWaits/control-planes-off": gate({ fleetClass: "ruling" }, provision, { classes: MORE }),
  "RequestWaits/cluster-token": gate({ fleetClass: "ruling" }, provision, {
    classes: MORE,
    settings: { ...new Model().settings, controlPlanes: true },
  }),
  "RequestWaits/request-held": {
    device: leaving,
    record: {
      retire: retire(),
      rowSeen: "2026-12-01T00:00:00Z",
      inventoryBack: { row: aDevice().lastUpdated, heldBeforeMs: null },
    },
  },
  "RequestWaits/identity-changed": { asks: wipe, device: { approvedEks: OTHER_EK }, record: { passedEks: EKS } },
  "RequestWaits/run-preparing": {
    asks: wipe,
    device: NO_BMC,
    record: {
      run: ended("failed", { begunAtMs: 1, terminal: { state: "DEADLINE", atMs: 2, action: null, detail: "" } }),
    },
  },
  "RequestWaits/slot": { asks: wipe, seen: { fleet: { ...new Model().fleet, slots } } },
  "RequestWaits/cluster-unavailable": {
    asks: wipe,
    device: { status: "active" },
    record: { installed },
    seen: {
      cluster: null,
      fleet: { ...new Model().fleet, slots: [{ deviceId: 7, run: workflowName(7, "wipe", REQUEST, 1), sinceMs: NOW }] },
    },
  },
  "RequestWaits/other-run": {
    asks: wipe,
    record: { run: run() },
    seen: { bootPlane: plane(workflow({ state: "PENDING", actions: [] })) },
  },
  "RequestWaits/decommissioning": { device: leaving, asks: wipe, record: { retire: retire() } },
  "RequestHeld/request-held": { device: { desiredAction: "wipe" } },
  "RequestsUnreadable/change-log": { device: { desiredAction: "wipe" }, seen: { changes: null } },
  "StatusForbids/offline": { device: { status: "offline" }, asks: wipe },
  "StatusUnknown/status": { device: { status: "staged" } },
  "StatusNotEarned/not-served": { device: { status: "active" } },
  "OfflineWithoutRetirement/not-retired": { device: { status: "offline" }, record: { installed } },
  "WaitsForMachine/no-machine": { device: { status: "offline" }, asks: { status: "planned" } },
  "NoRequest/no-request": {
    device: { status: "offline" },
    asks: { status: "planned" },
    record: { lastRequests: { install: { id: "later", atMs: NOW + 1 }, attest: null } },
  },
  "NoBinding/approved-eks-empty": { device: { approvedEks: [] } },
  "NoBinding/approved-eks-malformed": { device: { approvedEks: [{ digest: "sha256:12" }] } },
  "InterfaceUnclear/interface-ambiguous": { device: { interfaces: [] } },
  "MacUnknown/mac-unknown": { device: { interfaces: [] }, asks: wipe },
  "NetbootByHand/no-bmc": { device: NO_BMC, record: { run: run({ bootMode: false }) }, seen: begins },
  "BmcRefused/bmc-type-unknown": { device: { bmcType: "none-such" } },
  "BmcRefused/bmc-address-missing": { device: { oobAddress: null } },
  "BmcRefused/bmc-address-refused": { device: { oobAddress: "192.0.2.1" } },
  "IdentityChanged/identity-changed": { device: { serial: "SN0002" }, record: { run: run() }, seen: begins },
  "IdentityChanged/eks-changed": { device: { approvedEks: OTHER_EK, status: "active" }, record: { passedEks: EKS } },
  "IdentityChanged/eks-accepted": {
    device: { status: "active", approvedEks: OTHER_EK },
    asks: { status: "planned" },
    record: { passedEks: EKS },
  },
  "IdentityChanged/serial-changed": {
    device: { status: "active", serial: "SN0002" },
    record: { installed, identity: identityOf("w1", "SN0001", NOW) },
  },
  "InstalledName/name-changed": {
    device: { status: "active", name: "w2" },
    record: { installed, identity: identityOf("w1", "SN0001", NOW) },
  },
  "AttestationOld/never": {
    device: { status: "active" },
    record: { installed, identity: identityOf("w1", "SN0001", NOW) },
  },
  "AttestationOld/too-old": {
    device: { status: "active" },
    record: { installed, identity: identityOf("w1", "SN0001", NOW), verdict: verdict({ result: "pass" }) },
  },
  "Quarantined/by-intake": { record: { quarantine: { by: "intake", sinceMs: 1, node: null } } },
  "Quarantined/by-renewal": { record: { quarantine: { by: "renewal", sinceMs: 1, node: null } } },
  "MassFailure/held-back": {
    device: { status: "active" },
    record: { installed, verdict: verdict({ heldBack: true }) },
  },
  "InventoryWentBack/row-older": { record: { inventoryBack: { row: "r", heldBeforeMs: NOW - 1000 } } },
  "ChangedUnderRun/class-changed": { device: { fleetClass: "unpinned" }, record: { run: run() }, seen: begins },
  "ChangedUnderRun/name-changed": { device: { name: "w2" }, record: { run: run() }, seen: begins },
  "ChangedUnderRun/disk-changed": { device: { installDisk: "sda" }, record: { run: run() }, seen: begins },
  "ChangedUnderRun/mac-changed": { record: { run: run({ mac: "52:54:00:00:00:99" }) }, seen: begins },
  "InstalledClass/class-changed": { device: { status: "active", fleetClass: "unpinned" }, record: { installed } },
  "InstalledClass/class-edited": {
    device: { status: "active" },
    record: { installed },
    seen: { classes: { ...CLASSES, "talos-worker": { ...TALOS, profile: "another" } } },
  },
  "RunFailed/failed": { record: { run: ended("failed") } },
  "RunFailed/stopped": { record: { run: ended("stopped") } },
  "RunFailed/no-verdict": { record: { run: ended("no-verdict", { kind: "attest" }) } },
  "RunFailed/expired": { record: { run: ended("expired") } },
  "RunWaits/not-rendered": {
    record: { run: run() },
    seen: { bootPlane: plane(workflow({ state: "", actions: [], problem: "template not found" })) },
  },
  "NodeMissing/not-joined": {
    device: { status: "active" },
    record: { installed, token },
  },
  "NodeMissing/token-over": {
    device: { status: "active" },
    record: { installed, token: { ...token, deletedAtMs: NOW } },
  },
  "ConfigUnread/unread": unread,
  "NodeBootedHookOSAfterInstall/boot-order": { record: { ...unread.record, config: config({ hookosAgainAtMs: NOW }) } },
  "InstallConfigMissing/config-missing": { record: { config: config({ state: "removed", missingAtMs: NOW }) } },
  "InstallConfigRefetched/code-consumed": { record: { config: config({ state: "served", refetchedAtMs: NOW }) } },
  "InstallConfigContended/two-readers": { record: { config: config({ state: "lost", contendedAtMs: NOW }) } },
  "BootstrapTokenContended/second-user": { record: { token: { ...token, contended: true } } },
  "OthersApprove/others-approve": { record: { token }, seen: { cluster: cluster({ othersApprove: true }) } },
  "CsrRefused/csr-refused": {
    device: { status: "active" },
    record: { token, installed, config: config({ state: "served" }) },
    seen: { cluster: cluster({ csrs: misfit() }) },
  },
  "CsrRefused/csr-foreign": { seen: { cluster: cluster({ csrs: misfit("system:bootstrap:wide00") }) } },
  "RetirementWaits/run-in-the-way": {
    device: { ...leaving, ...NO_BMC },
    record: { retire: retire(), run: run({ phase: "running", begunAtMs: NOW }) },
    seen: { bootPlane: plane(workflow()) },
  },
  "RetirementWaits/erasing": {
    device: leaving,
    record: {
      retire: retire(),
      run: run({ kind: "retire", name: "f7-retire-d1-1", phase: "running", begunAtMs: NOW }),
    },
    seen: { bootPlane: plane(workflow({ name: "f7-retire-d1-1", kind: "retire" })) },
  },
  "RetirementWaits/back-off": { device: leaving, record: { retire: retire({ failures: 1, nextTryAtMs: NOW + 1000 }) } },
  "RetirementWaits/bmc-off": { device: leaving, record: { run: erasedRun, retire: retire({ erasedAtMs: 1 }) } },
  "RetirementWaits/cluster-unavailable": {
    device: leaving,
    record: { run: erasedRun, retire: retire({ erasedAtMs: 1, offAtMs: 2 }) },
    seen: { cluster: null },
  },
  "RetirementWaits/draining": {
    device: leaving,
    record: {
      run: erasedRun,
      node: { name: "w1", uid: "n1" },
      retire: retire({ erasedAtMs: 1, offAtMs: 2, drainSinceMs: NOW }),
    },
    seen: {
      cluster: cluster({
        node,
        pods: [
          {
            namespace: "a",
            name: "p",
            uid: "p",
            node: "w1",
            phase: "Running",
            terminating: false,
            mirror: false,
            daemonSet: false,
          },
        ],
      }),
    },
  },
  "RetirementStuck/bmc-off": {
    device: leaving,
    record: { run: erasedRun, retire: retire({ erasedAtMs: 1, offWaitSinceMs: 1 }) },
  },
  "BootPlaneUnavailable/boot-plane-unavailable": { seen: { bootPlane: null } },
  "ClusterUnavailable/cluster-unavailable": {
    record: { due: [{ do: "delete-token", id: "abcdef" }] },
    seen: { cluster: null },
  },
};
