import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { attestApp } from "../../../functions/attest/app.ts";
import { configApp } from "../../../functions/config/app.ts";
import type { AttestExit, AttestOptions } from "../../../infra/lab/machine/attest-run.ts";
import { type Boot, measureBoot } from "../../../infra/lab/machine/firmware.ts";
import { writeHookosRoot } from "../../../infra/lab/machine/hookos-root.ts";
import type { LabTpm } from "../../../infra/lab/tpm/lab-tpm.ts";
import { loadFleet } from "../../../shared/engine/records.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { writeLldpFrame } from "../../../shared/formats/lldp/frame.ts";
import type { WorkloadClusterPort } from "../../../shared/ports/workload-cluster.ts";
import type { Deps } from "../../../shared/runtime/deps.ts";
import { requestLog } from "../../../shared/runtime/log.ts";
import { onError } from "../../../shared/runtime/problem.ts";
import { fakeAuthority } from "../../fakes/authority.ts";
import { type FakeDeps, fakeDeps, fakeWorld } from "../../fakes/world.ts";
import { aDevice, CLASSES, SETTINGS } from "../../scenarios/fixtures.ts";

export const COMMAND_LINE =
  "console=ttyS0 fleet_attest_url=https://enroll.example fleet_stage=hookos lockdown=integrity";
export const SERIAL = "SN0001";
export const UUID = "4c4c4544-0034-4410-8043-b7c04f335131";
export const MAC = "52:54:00:12:34:56";

/** A TPM with the program that attests by it. */
export interface Attester {
  /** How many of its EKs have a certificate. */
  readonly certificates: number;
  readonly tpm: LabTpm;
  run(options: AttestOptions): Promise<AttestExit>;
  close(): Promise<void>;
}

/** The cluster that installed nodes join; a fake one where a test needs none. */
export interface JoinedCluster {
  readonly port: WorkloadClusterPort;
  readonly url: string;
  readonly caPem: string;
}

const certificate = (text: string) => ({ crt: Buffer.from(text).toString("base64"), key: "" });
const talosSecrets = (caPem: string) => ({
  cluster: { id: "cluster-id", secret: "cluster-secret" },
  trustdinfo: { token: "abcdef.0123456789abcdef" },
  certs: { os: certificate("os ca"), k8s: certificate(caPem) },
});

function classesFor(endpoint: string): unknown {
  const worker = CLASSES["talos-worker"];
  return { ...CLASSES, "talos-worker": { ...worker, talos: { ...worker?.talos, endpoint } } };
}

// The operator's key signs HookOS and Talos alike, so that the command line tells them apart.
const profileOf = (pem: string) => ({
  name: "talos",
  bank: "sha256",
  authorities: [{ pem, for: ["hookos", "os"] }],
  hookosMarker: "fleet_stage=hookos",
  osMarker: "talos.platform=metal",
});

/** How a boot differs from the good one. */
export interface BootChange {
  readonly boot?: Partial<Boot>;
  readonly serial?: string;
  readonly uuid?: string;
  readonly lldpPort?: string | null;
  readonly eventLog?: (log: Uint8Array) => Uint8Array;
  readonly url?: string;
  /** What the running system says that its command line is. */
  readonly saidCommandLine?: string;
}

/** fleetd's attest routes on fakes, over HTTPS, and one machine that boots HookOS before them. */
export class AttestWorld {
  readonly deps: FakeDeps;
  /** What the routes work with: the fakes, and the cluster that the test named. */
  readonly served: Deps;
  readonly directory: string;
  readonly url: string;
  /** PEM files of the boot authorities. */
  readonly authorities: { readonly good: string; readonly foreign: string };
  readonly #close: () => Promise<void>;
  readonly #good = fakeAuthority("Lab boot authority");
  readonly #foreign = fakeAuthority("Somebody's boot authority");

  private constructor(deps: FakeDeps, served: Deps, directory: string, url: string, close: () => Promise<void>) {
    this.deps = deps;
    this.served = served;
    this.directory = directory;
    this.url = url;
    this.#close = close;
    deps.world.policyTexts = {
      ...deps.world.policyTexts,
      profiles: { talos: profileOf(this.#good.pem) },
    };
    this.authorities = { good: join(directory, "good.pem"), foreign: join(directory, "foreign.pem") };
    writeFileSync(this.authorities.good, this.#good.pem);
    writeFileSync(this.authorities.foreign, this.#foreign.pem);
  }

  static async start(cluster?: JoinedCluster): Promise<AttestWorld> {
    const directory = mkdtempSync(join(tmpdir(), "fleetd-attest-"));
    const issuer = fakeAuthority("Lab device issuer");
    const policy = {
      classes: cluster === undefined ? CLASSES : classesFor(cluster.url),
      classInputs: null,
      ekPins: null,
      profiles: {},
      talosSecrets: talosSecrets(cluster?.caPem ?? "k8s ca"),
    };
    const durations = { ...SETTINGS.durations, inventoryCopyMs: 1 };
    const settings = { ...SETTINGS, durations, switchPort: "require" as const };
    const world = await fakeWorld({ directory, issuer, policy, settings });
    const deps = fakeDeps(world);
    const served = cluster === undefined ? deps : { ...deps, world: { ...world, cluster: cluster.port } };
    // The fleet's memory begins before the owners' requests: older ones would be held.
    await loadFleet(deps.world);
    const identity = issuer.serverIdentity();
    writeFileSync(join(directory, "ca.pem"), issuer.pem);
    const app = new Hono();
    app.use(requestLog(deps.log, "device"));
    app.onError(onError);
    app.route("/", attestApp(served));
    app.route("/", configApp(served));
    const serverOptions = { cert: identity.certificate, key: identity.key };
    const server = createAdaptorServer({ fetch: app.fetch, createServer, serverOptions });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const { port } = server.address() as AddressInfo;
    const close = async () => {
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true });
    };
    return new AttestWorld(deps, served, directory, `https://127.0.0.1:${port}`, close);
  }

  /** Declares the machine as a planned worker with these EKs, on port 7 of switch sw1. */
  async declare(tpm: Pick<LabTpm, "ekDigests">, change: Partial<Device> = {}): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const peer = {
      deviceName: "sw1",
      interfaceName: "swp7",
      interfaceLabel: null,
      interfaceMac: null,
      deviceMacs: ["00:11:22:33:44:00"],
    };
    const digests = await tpm.ekDigests();
    const eno1 = { id: 1, name: "eno1", managementOnly: false, primaryMac: null, macs: [], peer };
    this.deps.world.netbox.declare({
      ...aDevice(),
      serial: SERIAL,
      approvedEks: digests.map((digest) => ({ digest, source: "test" })),
      interfaces: [eno1],
      ...change,
    });
  }

  /** Boots HookOS and attests once; returns the exit code, what was said, and where /worker/fleet is. */
  async boot(attester: Attester, change: BootChange = {}) {
    const good: Boot = {
      authority: this.#good.der,
      dbCertificates: [this.#good.der],
      commandLine: COMMAND_LINE,
      secureBoot: true,
    };
    const measured = measureBoot({ ...good, ...change.boot });
    await attester.tpm.powerOn(measured.extends);
    const root = join(this.directory, "hookos");
    const port = change.lldpPort === undefined ? "swp7" : change.lldpPort;
    const frame = {
      sourceMac: "00:11:22:33:44:07",
      chassisId: { subtype: 4, text: "00:11:22:33:44:00" },
      portId: { subtype: 5, text: port ?? "" },
      ttlSeconds: 120,
      portDescription: null,
      systemName: "sw1",
    };
    writeHookosRoot(root, {
      serial: change.serial ?? SERIAL,
      uuid: change.uuid ?? UUID,
      mac: MAC,
      commandLine: change.saidCommandLine ?? COMMAND_LINE,
      eventLog: change.eventLog?.(measured.eventLog) ?? measured.eventLog,
      lldpFrame: port === null ? null : writeLldpFrame(frame),
    });
    const lines: string[] = [];
    const exit = await attester.run({
      root,
      url: change.url ?? this.url,
      caFile: join(this.directory, "ca.pem"),
      tries: 1,
      gapSeconds: 0,
      signal: new AbortController().signal,
      say: (line) => lines.push(line),
    });
    return { exit, said: lines.join("\n"), fleetDirectory: join(root, "worker/fleet") };
  }

  /** The firmware of a machine whose owner trusts another authority alone. */
  get foreign(): Partial<Boot> {
    return { authority: this.#foreign.der, dbCertificates: [this.#foreign.der] };
  }

  close(): Promise<void> {
    return this.#close();
  }
}
