import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBootPlane } from "../../shared/adapters/kubernetes/tinkerbell-boot-plane.ts";
import type {
  HardwareManifest,
  JobManifest,
  MachineManifest,
  WorkflowManifest,
} from "../../shared/fleet/boot-plane.ts";
import type { BootPlanePort } from "../../shared/ports/boot-plane.ts";
import type { KubernetesWorld } from "./kubernetes-world.ts";

const labels = (deviceId: number): Record<string, string> => ({
  "app.kubernetes.io/managed-by": "fleetd",
  "fleetd.dev/device-id": String(deviceId),
});

const hardware = (name: string, deviceId: number, mac = "52:54:00:00:00:01", allowPXE = false): HardwareManifest => ({
  apiVersion: "tinkerbell.org/v1alpha1",
  kind: "Hardware",
  metadata: { name, labels: labels(deviceId), annotations: { "fleetd.dev/device-name": name } },
  spec: {
    bmcRef: { apiGroup: "bmc.tinkerbell.org", kind: "Machine", name },
    disks: [{ device: "/dev/nvme0n1" }],
    interfaces: [
      {
        dhcp: { mac, hostname: name, arch: "x86_64", uefi: true },
        netboot: { allowPXE, allowWorkflow: true },
      },
    ],
    metadata: { instance: { id: "4c4c4544-0000-0000-0000-000000000001", hostname: name } },
  },
});

const machine = (name: string, deviceId: number): MachineManifest => ({
  apiVersion: "bmc.tinkerbell.org/v1alpha1",
  kind: "Machine",
  metadata: { name, labels: labels(deviceId), annotations: {} },
  spec: {
    connection: {
      host: "192.0.2.11",
      insecureTLS: true,
      authSecretRef: { name: "bmc-amt", namespace: "tinkerbell" },
      providerOptions: { preferredOrder: ["intelamt"], intelAMT: { port: 16992 } },
    },
  },
});

const workflow = (name: string, deviceId: number): WorkflowManifest => ({
  apiVersion: "tinkerbell.org/v1alpha1",
  kind: "Workflow",
  metadata: {
    name,
    labels: { ...labels(deviceId), "fleetd.dev/run-kind": "provision", "fleetd.dev/request-id": "0f1e2d3c4b5a" },
    annotations: {},
  },
  spec: {
    templateRef: "provision",
    hardwareRef: name,
    hardwareMap: { device_1: "52:54:00:00:00:01" },
    disabled: true,
    bootOptions: { bootMode: "netboot" },
  },
});

const job = (name: string, deviceId: number): JobManifest => ({
  apiVersion: "bmc.tinkerbell.org/v1alpha1",
  kind: "Job",
  metadata: { name, labels: labels(deviceId), annotations: {} },
  spec: { machineRef: { name: "m", namespace: "tinkerbell" }, tasks: [{ powerAction: "off" }] },
});

/** What fleetd needs of Tinkerbell's API; device ids and names are the suite's own. */
export function bootPlaneContract(peer: string, start: () => Promise<KubernetesWorld>): void {
  describe(`boot plane on ${peer}`, () => {
    let world: KubernetesWorld;
    let port: BootPlanePort;
    let base: string;
    let bmcBase: string;

    beforeAll(async () => {
      world = await start();
      const { kubeconfigFile, namespace } = world;
      port = createBootPlane({ kubeconfigFile, namespace, timeoutMs: 5_000, pageSize: 2 });
      base = `/apis/tinkerbell.org/v1alpha1/namespaces/${namespace}`;
      bmcBase = `/apis/bmc.tinkerbell.org/v1alpha1/namespaces/${namespace}`;
    });
    afterAll(() => world.close());

    const only = async (deviceId: number) => port.objects([deviceId]);

    it("creates a Hardware, then patches what differs and leaves annotations of others", async () => {
      await port.apply(hardware("hw-1", 9001));
      const [made] = (await only(9001)).hardware;
      expect(made).toMatchObject({ name: "hw-1", deviceId: 9001, allowPxe: false });
      await world.admin.call("PATCH", `${base}/hardware/hw-1`, { metadata: { annotations: { other: "kept" } } });
      await port.apply(hardware("hw-1", 9001, "52:54:00:00:00:01", true));
      const stored = await world.admin.get(`${base}/hardware/hw-1`);
      expect(stored?.metadata.annotations).toMatchObject({ other: "kept", "fleetd.dev/device-name": "hw-1" });
      expect((await only(9001)).hardware[0]?.allowPxe).toBe(true);
    });

    it("writes nothing where nothing differs, whatever the API filled in", async () => {
      await port.apply(machine("m-2", 9002));
      await port.apply(hardware("hw-2", 9002, "52:54:00:00:00:02"));
      const before = await only(9002);
      await port.apply(machine("m-2", 9002));
      await port.apply(hardware("hw-2", 9002, "52:54:00:00:00:02"));
      const after = await only(9002);
      expect(after.machines[0]?.resourceVersion).toBe(before.machines[0]?.resourceVersion);
      expect(after.hardware[0]?.resourceVersion).toBe(before.hardware[0]?.resourceVersion);
    });

    it("takes a field away that is no longer wanted", async () => {
      await port.apply(hardware("hw-3", 9003));
      const { bmcRef: _gone, ...spec } = hardware("hw-3", 9003).spec;
      await port.apply({ ...hardware("hw-3", 9003), spec });
      expect((await world.admin.get(`${base}/hardware/hw-3`))?.spec).not.toHaveProperty("bmcRef");
    });

    it("is refused an upper-case MAC and an unknown field", async () => {
      await expect(port.apply(hardware("hw-4", 9004, "52:54:00:00:00:AA"))).rejects.toMatchObject({ kind: "rejected" });
      const odd = { ...workflow("wf-4", 9004), spec: { ...workflow("wf-4", 9004).spec, spelling: "wrong" } };
      await expect(port.create(odd)).rejects.toMatchObject({ kind: "rejected" });
    });

    it("creates a Workflow disabled and enables it by UID and resourceVersion only", async () => {
      await port.create(workflow("wf-5", 9005));
      const [made] = (await only(9005)).workflows;
      expect(made).toMatchObject({
        disabled: true,
        kind: "provision",
        requestId: "0f1e2d3c4b5a",
        state: "",
        bootJob: "netboot-wf-5",
      });
      const { uid = "", resourceVersion = "" } = made ?? {};
      await expect(
        port.enableWorkflow("wf-5", "00000000-0000-0000-0000-000000000000", resourceVersion),
      ).rejects.toMatchObject({
        kind: "conflict",
      });
      await expect(port.enableWorkflow("wf-5", uid, "1")).rejects.toMatchObject({ kind: "conflict" });
      expect((await only(9005)).workflows[0]?.disabled).toBe(true);
      await port.enableWorkflow("wf-5", uid, resourceVersion);
      expect((await only(9005)).workflows[0]?.disabled).toBe(false);
      await expect(port.enableWorkflow("wf-absent", uid, resourceVersion)).rejects.toMatchObject({ kind: "not-found" });
    });

    it("answers conflict where the name exists", async () => {
      await port.create(job("job-6", 9006));
      await expect(port.create(job("job-6", 9006))).rejects.toMatchObject({ kind: "conflict" });
      expect((await only(9006)).jobs).toMatchObject([{ name: "job-6", machine: "m", state: "open" }]);
    });

    it("neither changes, deletes nor lists what is not fleetd's", async () => {
      const { metadata, ...rest } = hardware("hw-7", 9007);
      await world.admin.call("POST", `${base}/hardware`, { ...rest, metadata: { name: metadata.name } });
      const strange = await world.admin.get(`${base}/hardware/hw-7`);
      expect((await only(9007)).hardware).toEqual([]);
      await expect(port.apply(hardware("hw-7", 9007))).rejects.toMatchObject({ kind: "rejected" });
      await expect(port.remove("Hardware", "hw-7", strange?.metadata.uid ?? "")).rejects.toMatchObject({
        kind: "rejected",
      });
      const { metadata: _labels, ...jobRest } = job("job-7", 9007);
      await world.admin.call("POST", `${bmcBase}/jobs`, { ...jobRest, metadata: { name: "job-7" } });
      await expect(port.create(job("job-7", 9007))).rejects.toMatchObject({ kind: "rejected" });
      await expect(port.apply(hardware("hw-1", 9007))).rejects.toMatchObject({ kind: "rejected" });
      expect(await world.admin.get(`${base}/hardware/hw-7`)).toEqual(strange);
    });

    it("deletes by UID and resourceVersion and takes 404 as done", async () => {
      await port.create(workflow("wf-8", 9008));
      const [made] = (await only(9008)).workflows;
      const { uid = "", resourceVersion = "" } = made ?? {};
      const absent = "00000000-0000-0000-0000-000000000000";
      await expect(port.remove("Workflow", "wf-8", absent)).rejects.toMatchObject({ kind: "conflict" });
      await expect(port.remove("Workflow", "wf-8", uid, "1")).rejects.toMatchObject({ kind: "conflict" });
      await port.remove("Workflow", "wf-8", uid, resourceVersion);
      expect(await world.admin.get(`${base}/workflows/wf-8`)).toBeNull();
      await port.remove("Workflow", "wf-8", uid, resourceVersion);
    });

    it("moves a Machine's BMC, and deletes what it made of every kind", async () => {
      await port.apply(machine("all-1", 9030));
      const moved = machine("all-1", 9030);
      await port.apply({ ...moved, spec: { connection: { ...moved.spec.connection, host: "192.0.2.12" } } });
      await port.apply(hardware("all-1", 9030));
      await port.create(workflow("all-1", 9030));
      await port.create(job("all-1", 9030));
      const made = await only(9030);
      expect(made.machines[0]?.spec).toMatchObject({ connection: { host: "192.0.2.12" } });
      for (const [kind, [object]] of [
        ["Job", made.jobs],
        ["Workflow", made.workflows],
        ["Machine", made.machines],
        ["Hardware", made.hardware],
      ] as const)
        await port.remove(kind, "all-1", object?.uid ?? "");
      expect(await only(9030)).toEqual({ hardware: [], workflows: [], machines: [], jobs: [] });
    });

    it("lists more objects than a page holds, and one device's alone", async () => {
      for (let id = 9011; id <= 9017; id += 1) await port.create(workflow(`wf-${id}`, id));
      const names = (await port.objects()).workflows.map(({ name }) => name);
      for (let id = 9011; id <= 9017; id += 1) expect(names).toContain(`wf-${id}`);
      expect((await only(9013)).workflows.map(({ name }) => name)).toEqual(["wf-9013"]);
    });

    it("reads a Template's text, and null where there is none", async () => {
      const data = 'version: "0.1"\nname: t\nglobal_timeout: 5\ntasks: []\n';
      const metadata = { name: "template-9", namespace: world.namespace };
      const template = { apiVersion: "tinkerbell.org/v1alpha1", kind: "Template", metadata, spec: { data } };
      await world.admin.call("POST", `${base}/templates`, template);
      expect(await port.template("template-9")).toEqual({ data });
      expect(await port.template("absent")).toBeNull();
    });

    it("is unavailable while the API is down or too slow, and comes back", async ({ skip }) => {
      const { faults } = world;
      if (faults === null) return skip("only the lab's API can be made to misbehave");
      await faults({ down: true });
      await expect(port.objects()).rejects.toMatchObject({ kind: "unavailable" });
      await faults({ down: false, throttled: 1 });
      await expect(port.template("absent")).rejects.toMatchObject({ kind: "unavailable" });
      const { kubeconfigFile, namespace } = world;
      const hasty = createBootPlane({ kubeconfigFile, namespace, timeoutMs: 100 });
      await hasty.template("absent");
      await faults({ slowMs: 400 });
      await expect(hasty.template("absent")).rejects.toThrow("boot-plane unavailable: GET");
      await faults({ slowMs: 0 });
      expect(await port.template("absent")).toBeNull();
    });

    it("starts a list again whose continue token has expired", async ({ skip }) => {
      if (world.faults === null) return skip("only the lab's API can be made to misbehave");
      await world.faults({ expiredContinues: 1 });
      expect((await port.objects()).workflows.length).toBeGreaterThanOrEqual(7);
    });
  });
}
