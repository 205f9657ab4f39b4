import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBootPlane } from "../../../../shared/adapters/kubernetes/tinkerbell-boot-plane.ts";
import { registry } from "../../../../shared/fleet/bmc/registry.gen.ts";
import { type KubernetesWorld, labWorld } from "../../../contracts/kubernetes-world.ts";

let world: KubernetesWorld;
beforeAll(async () => {
  world = await labWorld("tinkerbell");
});
afterAll(() => world.close());

describe("a Machine of every BMC type is taken by Tinkerbell's CRD, and stays as it is", () => {
  it.each(Object.entries(registry))("%s", async (type, connect) => {
    const { kubeconfigFile, namespace } = world;
    const port = createBootPlane({ kubeconfigFile, namespace, timeoutMs: 5_000 });
    const { port: bmcPort, insecureTls, providerOptions } = connect("192.0.2.1", { device: "f1", rpcPort: 8090 });
    const labels = { "app.kubernetes.io/managed-by": "fleetd", "fleetd.dev/device-id": "1" };
    const authSecretRef = { name: `bmc-${type}`, namespace };
    const connection = { host: "192.0.2.1", insecureTLS: insecureTls, authSecretRef, providerOptions };
    const manifest = {
      apiVersion: "bmc.tinkerbell.org/v1alpha1",
      kind: "Machine" as const,
      metadata: { name: type, labels, annotations: {} },
      spec: { connection: { ...connection, ...(bmcPort !== undefined && { port: bmcPort }) } },
    };
    const version = async () => (await port.objects([1])).machines.find(({ name }) => name === type)?.resourceVersion;
    await port.apply(manifest);
    const made = await version();
    await port.apply(manifest);
    expect(made).toMatch(/^\d+$/);
    expect(await version()).toBe(made);
  });
});
