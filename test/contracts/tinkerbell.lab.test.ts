import { expect, it } from "vitest";
import { listAt, objectOf, textAt } from "../../infra/lab/kubernetes/json.ts";
import { createBootPlane } from "../../shared/adapters/kubernetes/tinkerbell-boot-plane.ts";
import { rufioContract } from "./rufio.ts";
import { labTinkWorld } from "./tink-world.ts";
import { tinkerbellContract } from "./tinkerbell.ts";

tinkerbellContract("the lab's Tinkerbell", labTinkWorld);
rufioContract("the lab's Rufio", labTinkWorld);

// A real cluster's garbage collector is too fast for it most times: seen on a real Rufio without one.
it("a Job of a used name is completed by the Tasks of the old one, which fleetd's adapter disowns", async () => {
  const world = await labTinkWorld();
  try {
    const { admin, kubeconfigFile, namespace } = world.kubernetes;
    const machine = world.machine("p1", "52:54:00:00:02:01", true);
    world.bmcs.add("192.0.2.31", machine);
    await world.declare("p1", machine.mac, "192.0.2.31");
    const kind = { apiVersion: "bmc.tinkerbell.org/v1alpha1", kind: "Job" };
    const owner = { ...kind, name: "again", uid: "00000000-0000-0000-0000-0000000000aa" };
    const metadata = { name: "again-task-0", labels: { "owner-name": "again" }, ownerReferences: [owner] };
    const spec = objectOf((await admin.get(`${world.paths.machines}/p1`))?.spec);
    const task = { ...kind, kind: "Task", metadata, spec: { ...spec, task: { powerAction: "on" } } };
    await admin.call("POST", world.paths.tasks, task);
    const done = (path: string) => async () =>
      listAt(await admin.get(path), "status", "conditions").some((one) => textAt(one, "type") === "Completed");
    await expect.poll(done(`${world.paths.tasks}/again-task-0`), { timeout: 5_000 }).toBe(true);
    await admin.call("POST", world.paths.jobs, {
      ...kind,
      metadata: { name: "again", labels: { "app.kubernetes.io/managed-by": "fleetd", "fleetd.dev/device-id": "101" } },
      spec: { machineRef: { name: "p1", namespace }, tasks: [{ powerAction: "off" }] },
    });
    await expect.poll(done(`${world.paths.jobs}/again`), { timeout: 5_000 }).toBe(true);
    expect(machine.isOn()).toBe(true);
    const port = createBootPlane({ kubeconfigFile, namespace, timeoutMs: 5_000 });
    const job = (await port.objects([101])).jobs.find(({ name }) => name === "again");
    expect(job).toMatchObject({ state: "completed", tasksAreOwn: false });
  } finally {
    await world.close();
  }
});
