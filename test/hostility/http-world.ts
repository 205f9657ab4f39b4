import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { attestApp } from "../../functions/attest/app.ts";
import { SoftTpm } from "../../infra/lab/tpm/soft-tpm.ts";
import { loadFleet, parseRecord } from "../../shared/engine/records.ts";
import { newRecord } from "../../shared/fleet/record.ts";
import { type FakeAuthority, fakeAuthority } from "../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../fakes/world.ts";
import { Machine } from "../functions/attest/machine.ts";
import { aDevice, CLASSES, SETTINGS } from "../scenarios/fixtures.ts";

const certificate = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
const talosSecrets = {
  cluster: { id: "cluster-id", secret: "cluster-secret" },
  trustdinfo: { token: "abcdef.0123456789abcdef" },
  certs: { os: certificate("os ca"), k8s: certificate("k8s ca") },
};

/** fleetd's attest routes over HTTP, with two machines that it would install: each its own TPM. */
export class HttpWorld {
  readonly deps: FakeDeps;
  readonly machine: Machine;
  readonly another: Machine;
  /** The accepted authority of what boots, and another that firmware may trust beside it. */
  readonly boots: FakeAuthority;
  readonly others = fakeAuthority("Another boot authority");
  /** Certificates that were signed. */
  signed = 0;
  readonly #close: () => Promise<void>;

  private constructor(
    deps: FakeDeps,
    boots: FakeAuthority,
    machines: readonly [Machine, Machine],
    close: () => Promise<void>,
  ) {
    this.deps = deps;
    this.boots = boots;
    [this.machine, this.another] = machines;
    this.#close = close;
    const { signer } = deps.world;
    const sign = signer.sign.bind(signer);
    Object.assign(signer, {
      sign: (...asked: Parameters<typeof sign>) => {
        this.signed++;
        return sign(...asked);
      },
    });
  }

  static async start(): Promise<HttpWorld> {
    const directory = mkdtempSync(join(tmpdir(), "fleetd-hostility-"));
    const boots = fakeAuthority("Boot authority");
    const profiles = { talos: { name: "talos", bank: "sha256", authorities: [{ pem: boots.pem, for: ["hookos"] }] } };
    const policy = { classes: CLASSES, classInputs: null, ekPins: null, profiles, talosSecrets };
    const settings = { ...SETTINGS, durations: { ...SETTINGS.durations, inventoryCopyMs: 1 } };
    const world = await fakeWorld({ directory, issuer: fakeAuthority("Device CA"), policy, settings });
    const deps = fakeDeps(world);
    Object.assign(deps.limits, { beginPerMinute: 100_000 });
    await loadFleet(world);
    const server = createAdaptorServer({ fetch: attestApp(deps).fetch });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const machineOf = async (id: number): Promise<Machine> => {
      const tpm = new SoftTpm(join(directory, `tpm${id}`));
      const machine = new Machine(tpm, url);
      machine.mac = `52:54:00:00:00:0${id}`;
      await machine.boot({ authority: boots.der, dbCertificates: [boots.der], secureBoot: true });
      const approvedEks = (await tpm.ekDigests()).map((digest) => ({ digest, source: "SCAN:1" }));
      const interfaces = aDevice().interfaces.map((one) => ({
        ...one,
        id,
        primaryMac: machine.mac,
        macs: [machine.mac],
      }));
      world.netbox.declare({
        ...aDevice(),
        id,
        name: `w${id}`,
        serial: machine.serial,
        installDiskSerial: `S4XYNX0R12345${id}`,
        oobAddress: `10.9.0.${id}`,
        address: `10.0.0.${id}/24`,
        approvedEks,
        interfaces,
      });
      return machine;
    };
    const machines = [await machineOf(7), await machineOf(8)] as const;
    return new HttpWorld(deps, boots, machines, async () => {
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true });
    });
  }

  /** What fleetd holds of both devices that a refusal must leave as it is; a failing verdict is told apart. */
  async held(): Promise<{ readonly signed: number; readonly [what: string]: unknown }> {
    const kept = await Promise.all([7, 8].map((id) => this.deps.world.records.get(id)));
    const records = kept.map((one, i) => {
      const read = one === null ? newRecord(7 + i, "") : parseRecord(one);
      const { uuid, identity, pendingIdentity, run, config, verdict } = read;
      return { uuid, identity, pendingIdentity, run, config, passed: verdict?.result === "pass" ? verdict : null };
    });
    const objects = await this.deps.world.bootPlane.objects();
    const passes = this.deps.world.evidence.filter(({ json }) => JSON.parse(json).verdict.result === "pass").length;
    return { records, workflows: objects.workflows.length, passes, signed: this.signed };
  }

  /** Forgets what fleetd recorded of both devices, so that a later pass would show. */
  async forget(): Promise<void> {
    const { records } = this.deps.world;
    for (const { deviceId, resourceVersion } of await records.all()) await records.remove(deviceId, resourceVersion);
  }

  close(): Promise<void> {
    return this.#close();
  }
}
