import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, listAt, textAt } from "../../infra/lab/kubernetes/json.ts";
import { readInstalled } from "../../infra/lab/machine/disk.ts";
import { INSTALLER, SERIAL, type TinkWorld } from "./tink-world.ts";

const TEMPLATE = { apiVersion: "tinkerbell.org/v1alpha1", kind: "Template" };

/** What fleetd counts on of Tinkerbell; names are the suite's own. */
export function tinkerbellContract(peer: string, start: () => Promise<TinkWorld>): void {
  describe(`Workflows on ${peer}`, () => {
    let world: TinkWorld;
    beforeAll(async () => {
      world = await start();
    });
    afterAll(() => world.close());

    const state = async (name: string) => textAt(await world.workflow(name), "status", "state");
    const actions = async (name: string) =>
      listAt(listAt(await world.workflow(name), "status", "tasks")[0], "actions").map(
        (action) => `${textAt(action, "name")} ${textAt(action, "state")}`,
      );
    const reaches = (name: string, wanted: string) => expect.poll(() => state(name), { timeout: 30_000 }).toBe(wanted);

    describe("a provision run on the lab", () => {
      it("waits for the code, wipes, installs, and boots the disk", async () => {
        const machine = world.machine("m1", "52:54:00:00:00:01", true);
        await world.declare("m1", machine.mac, "192.0.2.1");
        await world.run("run-1", "provision", "m1", machine.mac);
        const agent = world.agent(machine);
        await expect.poll(() => actions("run-1"), { timeout: 30_000 }).toContain("wait-code RUNNING");
        expect(machine.dirtyBytes()).toBe(machine.disk.sizeBytes);
        machine.giveCode("abcd-1234");
        await reaches("run-1", "SUCCESS");
        await agent;
        expect(await actions("run-1")).toEqual([
          "disk-guard SUCCESS",
          "wait-code SUCCESS",
          "wipe SUCCESS",
          "install-talos SUCCESS",
          "next-boot SUCCESS",
          "reboot SUCCESS",
        ]);
        expect(readInstalled(machine.disk)).toEqual({ installer: INSTALLER, code: "abcd-1234" });
        expect(machine.events).toEqual(["next-boot talos", "reboot"]);
        const end = machine.disk.sizeBytes / 16;
        expect(machine.dirtyBytes(machine.disk.sizeBytes - end, end)).toBe(0);
        const { status } = await world.workflow("run-1");
        expect(status).toMatchObject({ agentID: machine.mac, globalTimeout: 7200, templateRendering: "successful" });
        expect(Date.parse(textAt(status, "globalExecutionStop"))).toBeGreaterThan(Date.now());
        const wipe = listAt(listAt(status, "tasks")[0], "actions")[2];
        expect(at(wipe, "command")).toEqual(["wipe", "/dev/nvme0n1", SERIAL]);
      });

      it("writes nothing without the code, and fails", async () => {
        const machine = world.machine("m2", "52:54:00:00:00:02", true);
        await world.declare("m2", machine.mac, "192.0.2.2");
        const metadata = { name: "hasty" };
        const template = await world.kubernetes.admin.get(`${world.paths.templates}/provision`);
        const data = textAt(template, "spec", "data").replace("timeout: 600", "timeout: 1");
        await world.kubernetes.admin.call("POST", world.paths.templates, { ...TEMPLATE, metadata, spec: { data } });
        await world.run("run-2", "hasty", "m2", machine.mac);
        void world.agent(machine);
        await reaches("run-2", "FAILED");
        expect((await actions("run-2")).slice(0, 3)).toEqual([
          "disk-guard SUCCESS",
          "wait-code FAILED",
          "wipe PENDING",
        ]);
        expect(machine.dirtyBytes()).toBe(machine.disk.sizeBytes);
      });

      it("writes nothing where the disk reports another serial", async () => {
        const machine = world.machine("m3", "52:54:00:00:00:03", true);
        machine.giveCode("x");
        await world.declare("m3", machine.mac, "192.0.2.3");
        await world.run("run-3", "provision", "m3", machine.mac, { hardwareMap: { disk_serial: "OTHER" } });
        void world.agent(machine);
        await reaches("run-3", "FAILED");
        const [guard] = listAt(listAt((await world.workflow("run-3")).status, "tasks")[0], "actions");
        expect(textAt(guard, "message")).toBe(`/dev/nvme0n1 reports serial ${SERIAL}, not OTHER`);
        expect(machine.dirtyBytes()).toBe(machine.disk.sizeBytes);
      });

      it("without a renderer waits for the pass, wipes and stays", async () => {
        const machine = world.machine("m4", "52:54:00:00:00:04", true);
        await world.declare("m4", machine.mac, "192.0.2.4");
        await world.run("run-4", "provision", "m4", machine.mac, {
          hardwareMap: { install: "false", code_required: "false" },
        });
        void world.agent(machine);
        await reaches("run-4", "SUCCESS");
        expect(await actions("run-4")).toEqual(["disk-guard SUCCESS", "wipe SUCCESS"]);
        expect(machine.events).toEqual([]);
      });
    });

    describe("the shared Templates on the lab", () => {
      it("retire leaves no byte and turns the machine off", async () => {
        const machine = world.machine("m5", "52:54:00:00:00:05", true);
        await world.declare("m5", machine.mac, "192.0.2.5");
        await world.run("run-5", "retire", "m5", machine.mac);
        await world.agent(machine);
        await reaches("run-5", "SUCCESS");
        expect(machine.dirtyBytes()).toBe(0);
        expect(machine.events).toEqual(["off"]);
      });

      it("attest touches no disk and boots it", async () => {
        const machine = world.machine("m6", "52:54:00:00:00:06", true);
        await world.declare("m6", machine.mac, "192.0.2.6");
        await world.run("run-6", "attest", "m6", machine.mac);
        await world.agent(machine);
        await reaches("run-6", "SUCCESS");
        expect(machine.dirtyBytes()).toBe(machine.disk.sizeBytes);
        expect(machine.events).toEqual(["reboot"]);
      });

      it("leaves a disabled Workflow alone until it is enabled", async () => {
        const machine = world.machine("m7", "52:54:00:00:00:07", true);
        await world.declare("m7", machine.mac, "192.0.2.7");
        await world.run("run-7", "wipe", "m7", machine.mac, { disabled: true });
        void world.agent(machine);
        await new Promise((resolve) => setTimeout(resolve, 400));
        const named = async () => (await world.workflow("run-7")).status;
        await expect.poll(named, { timeout: 30_000 }).toEqual({ agentID: machine.mac });
        await world.kubernetes.admin.call("PATCH", `${world.paths.workflows}/run-7`, { spec: { disabled: false } });
        await reaches("run-7", "SUCCESS");
        expect(machine.dirtyBytes(0, machine.disk.sizeBytes / 16)).toBe(0);
      });
    });

    describe("a Template that can't be rendered", () => {
      it("leaves the state absent, with the words, and starts when its Hardware comes", async () => {
        await world.run("run-8", "wipe", "m8", "52:54:00:00:00:08");
        const rendering = async () => textAt(await world.workflow("run-8"), "status", "templateRendering");
        await expect.poll(rendering, { timeout: 30_000 }).toBe("failed");
        const { status } = await world.workflow("run-8");
        expect(status).not.toHaveProperty("state");
        expect(textAt(listAt(status, "conditions")[0], "message")).toBe(
          'hardware not found: Hardware.tinkerbell.org "m8" not found',
        );
        await world.declare("m8", "52:54:00:00:00:08", "192.0.2.8");
        await reaches("run-8", "PENDING");
      });
    });

    describe("agents that lie", () => {
      it("may report SUCCESS for an action that they skipped", async () => {
        const machine = world.machine("m9", "52:54:00:00:00:09", true);
        await world.declare("m9", machine.mac, "192.0.2.9");
        await world.run("run-9", "retire", "m9", machine.mac);
        await world.agent(machine, { skips: ["wipe", "erase"] });
        await reaches("run-9", "SUCCESS");
        expect(machine.dirtyBytes()).toBe(machine.disk.sizeBytes);
      });

      it("make SUCCESS of a report of the last action alone", async () => {
        const machine = world.machine("m10", "52:54:00:00:00:10", true);
        await world.declare("m10", machine.mac, "192.0.2.10");
        await world.run("run-10", "wipe", "m10", machine.mac);
        await world.agent(machine, {
          instead: async ({ taskId }) => {
            const task = listAt((await world.workflow("run-10")).status, "tasks")[0];
            return { taskId, actionId: textAt(listAt(task, "actions").at(-1), "id") };
          },
        });
        await reaches("run-10", "SUCCESS");
        expect(await actions("run-10")).toEqual(["disk-guard PENDING", "wipe SUCCESS"]);
      });
    });

    describe("reports that no honest agent sends", () => {
      const send = async (body: Record<string, unknown>) => {
        const now = new Date().toISOString();
        const whole = { name: "one", executionStart: now, executionStop: now, ...body };
        return (await fetch(`${world.tink.url}/report`, { method: "POST", body: JSON.stringify(whole) })).status;
      };
      const report = async (name: string, index: number, state: string, more: Record<string, unknown> = {}) => {
        const task = listAt((await world.workflow(name)).status, "tasks")[0];
        const [taskId, agentId] = [textAt(task, "id"), textAt(task, "agentID")];
        const actionId = textAt(listAt(task, "actions")[index], "id");
        return send({ workflowId: `tinkerbell/${name}`, taskId, agentId, actionId, state, ...more });
      };
      const short = async (name: string, mac: string, timeoutSeconds: number) => {
        const action = (title: string) => `{name: ${title}, image: "x:1", timeout: 600, command: ["x"]}`;
        const data = [
          'version: "0.1"',
          `name: ${name}`,
          `global_timeout: ${timeoutSeconds}`,
          `tasks: [{name: t, worker: "{{ .device_1 }}", actions: [${action("one")}, ${action("two")}, ${action("three")}]}]`,
        ].join("\n");
        await world.kubernetes.admin.call("POST", world.paths.templates, {
          ...TEMPLATE,
          metadata: { name },
          spec: { data },
        });
        await world.declare(name, mac, "192.0.2.99");
        await world.run(name, name, name, mac);
        await reaches(name, "PENDING");
      };

      it("SUCCESS of the last action after FAILED makes SUCCESS", async () => {
        await short("odd-1", "52:54:00:00:09:01", 600);
        expect(await report("odd-1", 0, "FAILED")).toBe(200);
        expect(await state("odd-1")).toBe("FAILED");
        expect(await report("odd-1", 2, "SUCCESS")).toBe(200);
        await reaches("odd-1", "SUCCESS");
        expect(await actions("odd-1")).toEqual(["one FAILED", "two PENDING", "three SUCCESS"]);
      });

      it("what is reported is the state, whatever it was", async () => {
        await short("odd-6", "52:54:00:00:09:06", 600);
        await report("odd-6", 0, "SUCCESS");
        expect(await state("odd-6")).toBe("PENDING");
        await report("odd-6", 1, "FAILED");
        expect(await state("odd-6")).toBe("FAILED");
        await report("odd-6", 1, "RUNNING", { executionStop: "" });
        expect(await state("odd-6")).toBe("RUNNING");
        const task = listAt((await world.workflow("odd-6")).status, "tasks")[0];
        expect(listAt(task, "actions")[1]).toMatchObject({ state: "RUNNING", executionStop: "1970-01-01T00:00:00Z" });
      });

      it("the global timeout fires at the next report, and SUCCESS may follow it", async () => {
        await short("odd-2", "52:54:00:00:09:02", 1);
        await report("odd-2", 0, "RUNNING");
        const stop = async () => Date.parse(textAt((await world.workflow("odd-2")).status, "globalExecutionStop"));
        await expect.poll(async () => (await stop()) < Date.now(), { timeout: 30_000 }).toBe(true);
        expect(await state("odd-2")).toBe("RUNNING");
        await report("odd-2", 0, "SUCCESS");
        await reaches("odd-2", "TIMEOUT");
        await report("odd-2", 2, "SUCCESS");
        await reaches("odd-2", "SUCCESS");
      });

      it("of an action, an agent or a Workflow that isn't there are refused", async () => {
        await short("odd-3", "52:54:00:00:09:03", 600);
        expect(await report("odd-3", 0, "SUCCESS", { actionId: "" })).toBe(400);
        expect(await report("odd-3", 0, "SUCCESS", { actionId: "absent" })).toBe(404);
      });

      it("of a Workflow that was deleted are refused, and its agent gets nothing more", async () => {
        const machine = world.machine("m11", "52:54:00:00:00:11", true);
        await world.declare("m11", machine.mac, "192.0.2.11");
        await world.run("run-11", "provision", "m11", machine.mac);
        void world.agent(machine);
        await expect.poll(() => actions("run-11"), { timeout: 30_000 }).toContain("wait-code RUNNING");
        const task = listAt((await world.workflow("run-11")).status, "tasks")[0];
        const [taskId, agentId] = [textAt(task, "id"), textAt(task, "agentID")];
        const actionId = textAt(listAt(task, "actions")[1], "id");
        await world.kubernetes.admin.call("DELETE", `${world.paths.workflows}/run-11`);
        machine.giveCode("abcd-1234");
        expect(await send({ workflowId: "tinkerbell/run-11", taskId, agentId, actionId, state: "SUCCESS" })).toBe(500);
        expect(machine.dirtyBytes()).toBe(machine.disk.sizeBytes);
      });

      it("a finished Workflow of the same agent can hide the next for a while", async () => {
        await short("odd-4", "52:54:00:00:09:04", 600);
        await report("odd-4", 2, "SUCCESS");
        await reaches("odd-4", "SUCCESS");
        const ask = async () =>
          (await fetch(`${world.tink.url}/get-action`, { method: "POST", body: '{"agentId":"52:54:00:00:09:04"}' }))
            .status;
        expect(await ask()).toBe(412);
        await world.run("odd-5", "odd-4", "odd-4", "52:54:00:00:09:04");
        await reaches("odd-5", "PENDING");
        await expect.poll(ask, { timeout: 30_000 }).toBe(200);
      });
    });
  });
}
