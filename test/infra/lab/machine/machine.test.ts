import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { wipeDisk } from "../../../../infra/lab/machine/disk.ts";
import { type Door, openDoor } from "../../../../infra/lab/machine/door.ts";
import type { LabMachine } from "../../../../infra/lab/machine/machine.ts";
import { LabMachines } from "../../../../infra/lab/machine/machines.ts";
import { createWorkloadCluster } from "../../../../shared/adapters/kubernetes/workload-cluster.ts";
import { pass } from "../../../../shared/engine/pass.ts";
import { type KubernetesWorld, labWorld } from "../../../contracts/kubernetes-world.ts";
import { AttestWorld, COMMAND_LINE, MAC, SERIAL, UUID } from "../../hookos/attest-world.ts";
import { type ScriptedTink, startScriptedTink } from "./scripted-tink.ts";

const DISK = "S4XYNX0R123456";
const DEVICE = "/dev/nvme0n1";
const INSTALLER = "registry.example/installer@sha256:00";
const PROVISION = [
  ["disk-guard", DEVICE, DISK],
  ["wait-code", "code"],
  ["wipe", DEVICE, DISK],
  ["install-talos", DEVICE, DISK, INSTALLER],
  ["next-boot", DEVICE, DISK, "talos"],
  ["reboot"],
];
const PORT = { chassisMac: "00:11:22:33:44:00", systemName: "sw1", port: "swp7" };
const SPEC = {
  name: "w1",
  serial: SERIAL,
  uuid: UUID,
  mac: MAC,
  disks: [{ device: DEVICE, serial: DISK }],
  switchPort: PORT,
  bmcHost: "10.9.0.7",
};

let kubernetes: KubernetesWorld;
let world: AttestWorld;
let tink: ScriptedTink;
let machines: LabMachines;
let machine: LabMachine;
let door: Door;

beforeEach(async () => {
  kubernetes = await labWorld("cluster");
  const port = createWorkloadCluster({ kubeconfigFile: kubernetes.kubeconfigFile, timeoutMs: 5_000 });
  world = await AttestWorld.start({ port, url: kubernetes.url, caPem: kubernetes.caPem });
  tink = await startScriptedTink();
  machines = await LabMachines.start({
    directory: join(world.directory, "machines"),
    deviceUrl: world.url,
    caFile: join(world.directory, "ca.pem"),
    tinkUrl: tink.url,
    authorities: world.authorities,
    hookosCommandLine: COMMAND_LINE,
    osCommandLine: "talos.platform=metal",
    attestTries: 20,
    attestGapSeconds: 0.05,
    configGapMs: 20,
    configMaxGapMs: 100,
    csrTimeoutMs: 10_000,
    tpm: "software",
  });
  machine = await machines.add(SPEC);
  door = await openDoor(machines);
});
afterEach(async () => {
  await door.close();
  await machines.close();
  await tink.close();
  await world.close();
  await kubernetes.close();
});

const call = async (path: string, body?: unknown) => {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(`${door.url}${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const bmc = async (method: string, params: object) => {
  const body = JSON.stringify({ id: 1, host: SPEC.bmcHost, method, params });
  return (await fetch(machines.bmcs.url, { method: "POST", body })).json();
};
/** Passes of fleetd, until the machine has come so far. */
const until = async (what: () => boolean) => {
  await expect
    .poll(
      async () => {
        await pass(world.served.world);
        return what();
      },
      { timeout: 20_000, interval: 50 },
    )
    .toBe(true);
};
const install = async () => {
  await world.declare(machine.tpm);
  tink.serve(PROVISION);
  machine.powerOn("pxe");
  await until(() => machine.node !== null);
};

describe("a lab machine", () => {
  test("netboots by its BMC, attests, is installed, reads its configuration once and joins", async () => {
    await world.declare(machine.tpm);
    tink.serve(PROVISION);
    await bmc("setBootDevice", { device: "pxe" });
    await bmc("setPowerState", { state: "on" });
    await until(() => machine.node === "w1");
    expect(tink.agents).toEqual(new Set([MAC]));
    expect(tink.reports.filter((line) => !line.includes("RUNNING"))).toEqual([
      `disk-guard SUCCESS: ${DEVICE} is ${DISK}`,
      "wait-code SUCCESS: the code is there",
      "wipe SUCCESS: wiped",
      "install-talos SUCCESS: installed",
      "next-boot SUCCESS: next boot: fleet talos",
      "reboot SUCCESS: rebooting",
    ]);
    expect(machine.events).toEqual([
      "on pxe",
      "hookos",
      "tink-attest: attested (install)",
      "next boot: fleet talos",
      "reboot",
      "off",
      "on",
      "talos",
      "configuration served",
      "node w1",
    ]);
    expect(machine.configStatuses.filter((status) => status === 200)).toHaveLength(1);
    expect(world.deps.world.netbox.row(7).status).toBe("active");
    expect(machine.runs).toBe("talos");
  });

  test("never asks again for its configuration, which is not given twice either", async () => {
    await install();
    const asked = machine.configStatuses.length;
    await call("/machines/w1/power", { state: "cycle" });
    await until(() => machine.node !== null);
    expect(machine.configStatuses).toHaveLength(asked);
    expect((await call("/machines/w1/fetch-config", {})).body).toEqual({ status: 410 });
  });

  test("falls back to the network with a wiped disk", async () => {
    await install();
    await machine.stopped();
    for (const disk of machine.disks) wipeDisk(disk);
    expect(await machine.fetchConfigAgain()).toBeNull();
    machine.powerOn("disk");
    await expect.poll(() => machine.runs, { timeout: 5_000 }).toBe("hookos");
  });

  test("tells no code and no configuration by its door", async () => {
    await install();
    const [disk] = machine.disks;
    const { code } = JSON.parse(
      Buffer.from(disk?.read(disk.sizeBytes / 4, 64) ?? [])
        .toString()
        .replace(/\0+$/, ""),
    );
    expect(code).toMatch(/^[A-Z2-7]{26}$/);
    const shown = JSON.stringify((await call("/machines/w1")).body);
    expect(shown).toContain('"node":"w1"');
    expect(shown).not.toContain(code);
    expect(shown).not.toContain("cluster-secret");
  });

  test("is refused with foreign firmware, and may be wiped all the same", async () => {
    await world.declare(machine.tpm);
    await call("/machines/w1/firmware", { kind: "foreign" });
    tink.serve([["wipe", DEVICE, DISK]]);
    machine.disks[0]?.write(0, Uint8Array.of(1, 2, 3));
    machine.powerOn("pxe");
    await expect.poll(() => tink.reports.at(-1), { timeout: 10_000 }).toBe("wipe SUCCESS: wiped");
    const [attestation] = machine.attestations;
    expect(attestation?.exit).toBe(1);
    expect(attestation?.lines.join("\n")).toMatch(/evidence: 403 authority-not-accepted/);
    expect((await call("/machines/w1/disks/0?offset=0&length=3")).body).toMatchObject({ serial: DISK, hex: "000000" });
  });

  test("is refused with another machine's TPM, at another port, and as another machine", async () => {
    await world.declare(machine.tpm);
    await call("/machines", { ...SPEC, name: "w2", serial: "SN0002", mac: "52:54:00:12:34:57", bmcHost: "10.9.0.8" });
    const lastLines = async () => {
      const before = machine.attestations.length;
      await call("/machines/w1/power", { state: "cycle", boot: "pxe" });
      await expect.poll(() => machine.attestations[before]?.exit, { timeout: 10_000 }).not.toBeOneOf([null, undefined]);
      await machine.stopped();
      return machine.attestations[before]?.lines.join("\n");
    };
    expect((await call("/machines/w1/tpm", { with: "w2" })).status).toBe(200);
    expect(await lastLines()).toMatch(/begin: 409 ek-not-approved/);
    await call("/machines/w1/tpm", { with: "w2" });
    await call("/machines/w1/port", { ...PORT, port: "swp8" });
    expect(await lastLines()).toMatch(/confirm: 409 switch-port-mismatch/);
    await call("/machines/w1/port", PORT);
    await call("/machines/w1/lies", { serial: "SN9999" });
    expect(await lastLines()).toMatch(/begin: 409 unknown-serial/);
    await call("/machines/w1/lies", {});
    expect(await lastLines()).toMatch(/attested \(install\)/);
  });

  test("loses power in the middle of anything, and starts again", async () => {
    await world.declare(machine.tpm);
    for (const waitMs of [0, 5, 20, 60, 120]) {
      machine.powerOn("pxe");
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await machine.stopped();
      expect(machine).toMatchObject({ runs: "nothing", node: null });
    }
    machine.powerOn("pxe");
    await expect.poll(() => machine.attestations.at(-1)?.exit, { timeout: 10_000 }).toBe(0);
  });
});
