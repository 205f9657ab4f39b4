import { pass } from "../../../shared/engine/pass.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import type { NodeView } from "../../../shared/fleet/cluster.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { withJournal } from "../../../shared/fleet/journal.ts";
import type { DeviceRecord } from "../../../shared/fleet/record.ts";
import { aRun } from "../../functions/config/world.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { timedWorld } from "../../shared/engine/world.ts";

/** Every value of the first device that must be another's on the next holds this number; so do its id and its serials. */
export const FIRST_ID = 7_000_001;
const JOURNAL_LINES = 12;

/** One running worker as all peers hold it once fleetd has nothing more to do with it. */
export interface Sample {
  readonly device: Device;
  readonly record: DeviceRecord;
  readonly hardware: unknown;
  readonly machine: unknown;
  readonly node: NodeView;
}

function sampleDevice(): Device {
  const mac = "02:07:00:00:00:01";
  return {
    ...aDevice(),
    id: FIRST_ID,
    name: `w${FIRST_ID}`,
    serial: `SN${FIRST_ID}`,
    status: "active",
    installDiskSerial: `DISK${FIRST_ID}`,
    oobAddress: "10.9.0.1",
    address: "10.20.0.1/16",
    approvedEks: [{ digest: `sha256:${String(FIRST_ID).padStart(64, "0")}`, source: "SCAN:bench" }],
    interfaces: [{ id: FIRST_ID, name: "eno1", managementOnly: false, primaryMac: mac, macs: [mac], peer: null }],
  };
}

function installed(record: DeviceRecord, atMs: number): DeviceRecord {
  const run = aRun({
    phase: "ended",
    result: "success",
    name: `f${FIRST_ID}-provision-0000${FIRST_ID}0-1`,
    terminal: { state: "SUCCESS", atMs, action: null, detail: "" },
  });
  if (run.class === null) throw new Error("no class");
  const certificate = {
    serialNumber: `0${FIRST_ID}`,
    spkiSha256: `k${FIRST_ID}`.padEnd(64, "0"),
    notAfterMs: atMs * 2,
  };
  const next: DeviceRecord = {
    ...record,
    run,
    lastRequests: { install: run.request, attest: null },
    uuid: `4c4c4544-0034-4410-8043-00000${FIRST_ID}`,
    installed: { class: run.class, servedAtMs: atMs, run: run.name, activatedAtMs: atMs },
    identity: {
      ldevid: certificate,
      lak: certificate,
      subject: `SERIALNUMBER=SN${FIRST_ID},CN=w${FIRST_ID}.0123456789abcdef`,
      issuedAtMs: atMs,
    },
    verdict: { result: "pass", by: "renewal", atMs, codes: [], dbxHash: "ab".repeat(32), sbatLevel: "sbat,1" },
    passedEks: [`sha256:${String(FIRST_ID).padStart(64, "0")}`],
  };
  const lines = Array.from({ length: JOURNAL_LINES }, (_, n) => ({
    level: "info" as const,
    code: `line-${n}`,
    text: `a line of the journal of w${FIRST_ID}, as long as most of them are`,
    about: run.name,
  }));
  const said = withJournal(next, lines, atMs);
  return { ...said, journal: said.journal.map((line) => ({ ...line, sent: true })) };
}

/** Lets the real engine bring one installed device to rest on the fakes, and reads what every peer holds then. */
export async function restingSample(): Promise<Sample> {
  const t = await timedWorld();
  const { world } = t;
  const device = sampleDevice();
  world.netbox.declare(device);
  world.cluster.nodeList = [
    { name: device.name, uid: `uid-${FIRST_ID}`, unschedulable: false, taints: [], annotations: {}, createdAtMs: 1 },
  ];
  await updateRecord(world, device, (r) => installed(r, world.clock.nowMs()));
  for (let n = 0; n < 5; n++) {
    t.pass(600_000);
    await pass(world);
  }
  t.pass(600_000);
  if ((await pass(world)).steps > 0) throw new Error("the sample does not come to rest");
  const { hardware, machines } = await world.bootPlane.objects();
  const [node] = await world.cluster.nodes([device.name]);
  if (node === undefined) throw new Error("no Node");
  return {
    device: world.netbox.row(FIRST_ID),
    record: await t.record(FIRST_ID),
    hardware: hardware[0]?.spec,
    machine: machines[0]?.spec,
    node,
  };
}

/** A value of the sample as the n-th device (0 is the sample) has it. */
export function ofDevice<T>(value: T, n: number): T {
  const [high, low] = [Math.floor(n / 200) + 1, (n % 200) + 1];
  const text = JSON.stringify(value)
    .replaceAll(String(FIRST_ID), String(FIRST_ID + n))
    .replaceAll("02:07:00:00:00:01", `02:07:00:00:${hex(high)}:${hex(low)}`)
    .replaceAll("10.9.0.1", `10.9.${high}.${low}`)
    .replaceAll("10.20.0.1/", `10.20.${high}.${low}/`);
  return JSON.parse(text) as T;
}

function hex(n: number): string {
  return n.toString(16).padStart(2, "0");
}
