import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, listAt, objectOf, textAt } from "../../infra/lab/kubernetes/json.ts";
import { createBootPlane } from "../../shared/adapters/kubernetes/tinkerbell-boot-plane.ts";
import type { TinkWorld } from "./tink-world.ts";

/** Rufio may send a command a second time: it looks at a copy of its Task that is older than what it wrote. */
function once<T>(said: readonly T[]): T[] {
  return said.filter((one, index) => index === 0 || JSON.stringify(one) !== JSON.stringify(said[index - 1]));
}

const HARDWARE = { apiVersion: "tinkerbell.org/v1alpha1", kind: "Hardware" };
const JOB = { apiVersion: "bmc.tinkerbell.org/v1alpha1", kind: "Job" };

/** What fleetd counts on of Tinkerbell; names are the suite's own. */
export function rufioContract(peer: string, start: () => Promise<TinkWorld>): void {
  describe(`BMCs on ${peer}`, () => {
    let world: TinkWorld;
    beforeAll(async () => {
      world = await start();
    });
    afterAll(() => world.close());

    const ended = (path: string) => async () => {
      const conditions = listAt(await world.kubernetes.admin.get(path), "status", "conditions");
      return conditions.map((condition) => textAt(condition, "type")).filter((type) => type !== "Running");
    };
    const off = async (name: string, machine: string) => {
      const spec = { machineRef: { name: machine, namespace: "tinkerbell" }, tasks: [{ powerAction: "off" }] };
      const labels = { "app.kubernetes.io/managed-by": "fleetd", "fleetd.dev/device-id": "101" };
      await world.kubernetes.admin.call("POST", world.paths.jobs, { ...JOB, metadata: { name, labels }, spec });
      return `${world.paths.jobs}/${name}`;
    };

    describe("a netboot run", () => {
      it("turns the machine off, sets one boot from the network, turns it on, then serves actions", async () => {
        const machine = world.machine("n1", "52:54:00:00:01:01", true);
        world.bmcs.add("192.0.2.21", machine);
        await world.declare("n1", machine.mac, "192.0.2.21");
        await world.run("boot-1", "wipe", "n1", machine.mac, { bootOptions: { bootMode: "netboot" } });
        await expect.poll(() => once(machine.events), { timeout: 30_000 }).toEqual(["off", "on pxe"]);
        const state = async () => textAt(await world.workflow("boot-1"), "status", "state");
        await expect.poll(state, { timeout: 30_000 }).toBe("PENDING");
        const { status } = await world.workflow("boot-1");
        const job = await world.kubernetes.admin.get(`${world.paths.jobs}/netboot-boot-1`);
        expect(at(status, "bootOptions", "jobs", "netboot-boot-1")).toEqual({
          existingJobDeleted: true,
          complete: true,
          uid: job?.metadata.uid,
        });
        expect(listAt(status, "conditions").map((condition) => textAt(condition, "type"))).toEqual([
          "TemplateRenderedSuccess",
          "BootJobSetupComplete",
          "BootJobComplete",
        ]);
        const commands = world.bmcs.calls("192.0.2.21").filter(({ method }) => method.startsWith("set"));
        expect(once(commands)).toEqual([
          { method: "setPowerState", params: { state: "off" } },
          { method: "setBootDevice", params: { device: "pxe", persistent: false, efiBoot: true } },
          { method: "setPowerState", params: { state: "on" } },
        ]);
        void world.agent(machine);
        await expect.poll(state, { timeout: 30_000 }).toBe("SUCCESS");
      });

      it("fails with its Job, whose Task alone has the BMC's words; fleetd's adapter finds them", async () => {
        const machine = world.machine("n2", "52:54:00:00:01:02", true);
        world.bmcs.add("192.0.2.22", machine).refuseBootDevices = 1;
        await world.declare("n2", machine.mac, "192.0.2.22");
        await world.run("boot-2", "wipe", "n2", machine.mac, { bootOptions: { bootMode: "netboot" } });
        const labels = { "app.kubernetes.io/managed-by": "fleetd", "fleetd.dev/device-id": "102" };
        await world.kubernetes.admin.call("PATCH", `${world.paths.workflows}/boot-2`, { metadata: { labels } });
        const { kubeconfigFile, namespace } = world.kubernetes;
        const port = createBootPlane({ kubeconfigFile, namespace, timeoutMs: 5_000 });
        const view = async () => (await port.objects([102])).workflows[0];
        await expect.poll(async () => (await view())?.state, { timeout: 30_000 }).toBe("FAILED");
        expect((await view())?.problem).toMatch(
          /^job failed: failed to perform OneTimeBootDeviceAction: 2 errors occurred:\n\t\* .*message: no such device\n/,
        );
        expect(once(machine.events)).toEqual(["off"]);
      });

      it("fails where the Hardware has no BMC", async () => {
        const spec = { interfaces: [{ dhcp: { mac: "52:54:00:00:01:03" } }] };
        await world.kubernetes.admin.call("POST", world.paths.hardware, {
          ...HARDWARE,
          metadata: { name: "n3" },
          spec,
        });
        await world.run("boot-3", "wipe", "n3", "52:54:00:00:01:03", { bootOptions: { bootMode: "netboot" } });
        const state = async () => textAt(await world.workflow("boot-3"), "status", "state");
        await expect.poll(state, { timeout: 30_000 }).toBe("FAILED");
      });
    });

    describe("a power-off Job", () => {
      it("is refused the first time and done the second", async () => {
        const machine = world.machine("p1", "52:54:00:00:02:01", true);
        world.bmcs.add("192.0.2.31", machine).refuseOffs = 1;
        await world.declare("p1", machine.mac, "192.0.2.31");
        await expect.poll(ended(await off("off-1", "p1")), { timeout: 30_000 }).toEqual(["Failed"]);
        expect(machine.isOn()).toBe(true);
        const { kubeconfigFile, namespace } = world.kubernetes;
        const port = createBootPlane({ kubeconfigFile, namespace, timeoutMs: 5_000 });
        const job = (await port.objects([101])).jobs.find(({ name }) => name === "off-1");
        expect(job?.problem).toMatch(
          /^failed to perform PowerAction: 2 errors occurred:\n\t\* .*message: power-off refused/,
        );
        await expect.poll(ended(await off("off-2", "p1")), { timeout: 30_000 }).toEqual(["Completed"]);
        expect(machine.isOn()).toBe(false);
      });

      it("is not completed by a BMC that says ok and does nothing", async () => {
        const machine = world.machine("p2", "52:54:00:00:02:02", true);
        world.bmcs.add("192.0.2.32", machine).ignores = true;
        await world.declare("p2", machine.mac, "192.0.2.32");
        const job = ended(await off("off-3", "p2"));
        const commands = () => world.bmcs.calls("192.0.2.32").filter(({ method }) => method === "setPowerState");
        await expect.poll(commands, { timeout: 30_000 }).toHaveLength(1);
        const { taskTimeoutMs } = world.tink;
        if (taskTimeoutMs < 30_000) await expect.poll(job, { timeout: 2 * taskTimeoutMs + 5_000 }).toEqual(["Failed"]);
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        expect(await job()).not.toContain("Completed");
        expect(commands()).toHaveLength(1);
      });

      // One that is too slow for it cannot be waited for here: Rufio gives a connection two minutes.
      it("waits for a BMC that is slow", async () => {
        const slow = world.machine("p5", "52:54:00:00:02:05", true);
        world.bmcs.add("192.0.2.35", slow).slowMs = 1_500;
        await world.declare("p5", slow.mac, "192.0.2.35");
        await expect.poll(ended(await off("off-8", "p5")), { timeout: 40_000 }).toEqual(["Completed"]);
        expect(slow.isOn()).toBe(false);
      });

      it("stays without a status where the Machine is unknown, and fails at once where the BMC is away", async () => {
        const unknown = await off("off-4", "nobody");
        const machine = world.machine("p3", "52:54:00:00:02:03", true);
        world.bmcs.add("192.0.2.33", machine).down = true;
        await world.declare("p3", machine.mac, "192.0.2.33");
        await expect.poll(ended(await off("off-5", "p3")), { timeout: 30_000 }).toEqual(["Failed"]);
        expect((await world.kubernetes.admin.get(unknown))?.status).toBeUndefined();
      });

      it("fails where a Task of its Task's name is another Job's", async () => {
        const machine = world.machine("p4", "52:54:00:00:02:04", true);
        world.bmcs.add("192.0.2.34", machine);
        await world.declare("p4", machine.mac, "192.0.2.34");
        // A Job that is never begun, since its Machine is not there, owns the older Task: the garbage collector leaves it.
        await off("off-6-before", "nobody");
        const older = await world.kubernetes.admin.get(`${world.paths.jobs}/off-6-before`);
        const metadata = {
          name: "off-6-task-0",
          labels: { "owner-name": "off-6" },
          ownerReferences: [{ ...JOB, name: "off-6-before", uid: older?.metadata.uid }],
        };
        const spec = objectOf((await world.kubernetes.admin.get(`${world.paths.machines}/p4`))?.spec);
        const task = { ...JOB, kind: "Task", metadata, spec: { ...spec, task: { powerAction: "on" } } };
        await world.kubernetes.admin.call("POST", world.paths.tasks, task);
        await expect.poll(ended(`${world.paths.tasks}/off-6-task-0`), { timeout: 30_000 }).toEqual(["Completed"]);
        const job = await off("off-6", "p4");
        await expect.poll(ended(job), { timeout: 30_000 }).toEqual(["Failed"]);
        expect(JSON.stringify((await world.kubernetes.admin.get(job))?.status)).toContain("already exists");
        expect(machine.isOn()).toBe(true);
      });
    });

    describe("a Machine's power state", () => {
      it("is read when the Machine is made or edited, not after a Job", async () => {
        const machine = world.machine("s1", "52:54:00:00:03:01", true);
        world.bmcs.add("192.0.2.41", machine);
        await world.declare("s1", machine.mac, "192.0.2.41");
        const path = `${world.paths.machines}/s1`;
        const power = async () => textAt(await world.kubernetes.admin.get(path), "status", "powerState");
        await expect.poll(power, { timeout: 30_000 }).toBe("on");
        // Its own status is an edit too: Rufio reads once more, and then no more.
        const quiet = async () => {
          const before = world.bmcs.calls("192.0.2.41").length;
          await new Promise((resolve) => setTimeout(resolve, 2_000));
          return world.bmcs.calls("192.0.2.41").length === before;
        };
        await expect.poll(quiet, { timeout: 30_000 }).toBe(true);
        await expect.poll(ended(await off("off-7", "s1")), { timeout: 30_000 }).toEqual(["Completed"]);
        expect(await power()).toBe("on");
        await world.kubernetes.admin.call("PATCH", path, { metadata: { annotations: { poke: "1" } } });
        await expect.poll(power, { timeout: 30_000 }).toBe("off");
      });

      it("is unknown where the BMC can't be reached", async () => {
        const machine = world.machine("s2", "52:54:00:00:03:02", true);
        world.bmcs.add("192.0.2.42", machine).down = true;
        await world.declare("s2", machine.mac, "192.0.2.42");
        const read = () => world.kubernetes.admin.get(`${world.paths.machines}/s2`);
        await expect
          .poll(async () => textAt(await read(), "status", "powerState"), { timeout: 30_000 })
          .toBe("unknown");
        const [contactable] = listAt(await read(), "status", "conditions");
        expect(contactable).toMatchObject({ type: "Contactable", status: "False" });
      });
    });
  });
}
