import { approvedDigests } from "../../../shared/fleet/binding.ts";
import { type ClassTable, classTableSchema, type FleetClass, freezeClass } from "../../../shared/fleet/class.ts";
import { type DeviceRecord, type Run, unreadConfig } from "../../../shared/fleet/record.ts";
import { newRetire } from "../../../shared/fleet/retire-record.ts";
import { kubeletAsks } from "../../scenarios/acts.ts";
import { aDevice, CLASSES } from "../../scenarios/fixtures.ts";
import { Model } from "../../scenarios/model.ts";

const talos = CLASSES["talos-worker"];
if (talos === undefined) throw new Error("no class");
export const TALOS: FleetClass = talos;
export const MORE: ClassTable = {
  ...CLASSES,
  imaged:
    classTableSchema.parse({
      imaged: {
        ...TALOS,
        os: "nixos",
        payload: "nixos-image",
        installer: undefined,
        image: "https://x.example/i",
        image_digest: `sha256:${"c".repeat(64)}`,
        image_format: "raw",
      },
    }).imaged ?? TALOS,
  ruling: { ...TALOS, workload: "controlplane" },
};
export const frozen = freezeClass("talos-worker", CLASSES, null);
export const EKS = [...approvedDigests(aDevice().approvedEks)];
export const REQUEST = "0000abcd-aaaa-4000-8000-000000000000";
/** The model's clock once its owner has asked. */
export const NOW = new Model().nowMs + 60_000;

export const run = (change: Partial<Run> = {}): Run => ({
  ...{ kind: "provision", request: { id: "r1", atMs: 1 }, attempt: 1, name: "f7-provision-r1-1", deviceName: "w1" },
  ...{
    phase: "waiting",
    class: frozen,
    disk: { device: "nvme0n1", serial: "S4XYNX0R123456" },
    serial: "SN0001",
    uuid: null,
  },
  ...{ eks: EKS, mac: "52:54:00:00:00:07", bootMode: true, startedAtMs: NOW, enabledAtMs: NOW, begunAtMs: null },
  ...{ diskBegun: false, timeoutMs: 3_600_000, actionsChecked: true, terminal: null, result: null, verdictAtMs: null },
  ...change,
});
export const ended = (result: NonNullable<Run["result"]>, change: Partial<Run> = {}) =>
  run({ phase: "ended", result, terminal: { state: "FAILED", atMs: NOW, action: "wipe", detail: "" }, ...change });
export const workflow = (change: object = {}) => ({
  ...{ name: "f7-provision-r1-1", uid: "u", resourceVersion: "1", createdAtMs: NOW, deviceId: 7, kind: "provision" },
  ...{ requestId: "r1", disabled: false, state: "RUNNING" as const, templateRef: "provision", timeoutMs: 3_600_000 },
  ...{
    agentId: "",
    problem: "",
    bootJob: null,
    actions: [
      {
        name: "wipe",
        image: "t",
        command: [],
        state: "RUNNING" as const,
        message: "",
        startedAtMs: NOW,
        stoppedAtMs: null,
      },
    ],
  },
  ...change,
});
export const plane = (...workflows: ReturnType<typeof workflow>[]) => ({
  hardware: [],
  machines: [],
  jobs: [],
  workflows,
});
export const installed = frozen && { class: frozen, servedAtMs: 1, run: "f7-provision-r1-1", activatedAtMs: 1 };
export const verdict = (change: Partial<NonNullable<DeviceRecord["verdict"]>> = {}) => ({
  ...{
    result: "fail" as const,
    by: "renewal" as const,
    atMs: 1,
    codes: ["not-hookos"],
    dbxHash: null,
    sbatLevel: null,
  },
  ...change,
});
export const config = (change: Partial<NonNullable<DeviceRecord["config"]>> = {}) => ({
  ...unreadConfig("h", "f7-provision-r1-1", NOW),
  ...change,
});
export const token = { id: "abcdef", expiresAtMs: null, csr: null, contended: false, deletedAtMs: null };
export const node = { name: "w1", uid: "n1", unschedulable: true, taints: [], annotations: {}, createdAtMs: 1 };
export const cluster = (change: object = {}) => ({
  node: null,
  csrs: [],
  pods: [],
  tokens: [],
  othersApprove: false,
  ...change,
});
export const retire = (change: Partial<NonNullable<DeviceRecord["retire"]>> = {}) => ({
  ...newRetire({ id: "d1", atMs: 1 }),
  ...change,
});
/** The CSRs of somebody who has the token and asks for more than a node is given. */
export function misfit(username?: string) {
  const m = new Model();
  kubeletAsks(m, { organizations: ["system:masters"], ...(username === undefined ? {} : { username }) });
  return m.cluster?.csrs ?? [];
}
