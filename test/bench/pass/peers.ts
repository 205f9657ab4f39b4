import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { LabClient } from "../../../infra/lab/kubernetes/client.ts";
import { writeKubeconfig } from "../../../infra/lab/kubernetes/kubeconfig.ts";
import { startLabKubernetes } from "../../../infra/lab/kubernetes/server.ts";
import { startLabNetBox } from "../../../infra/lab/netbox/lab-netbox.ts";
import { models } from "../../../infra/lab/netbox/models.ts";
import { seed } from "../../../infra/lab/netbox/seed.ts";
import { dump, emptyWorld, type Row, type TableName, type World } from "../../../infra/lab/netbox/world.ts";
import { create } from "../../../infra/lab/netbox/write.ts";
import { ofDevice, restingSample, type Sample } from "./fleet.ts";
import { objectsOf } from "./objects.ts";

/** The lab's peers with a fleet of running workers in them: `node peers.ts FOLDER DEVICES`; says `ready` and where. */
const [folder = "", count = "0"] = process.argv.slice(2);
const devices = Number(count);
export const OWNER = "nbt_adminadmin12.0123456789abcdef0123456789abcdef01234567";
const FLEETD = "nbt_fleetdfleet1.0123456789abcdef0123456789abcdef01234567";
/** Rows that moved an hour ago, no two in one moment. */
const anHourAgo = (n: number) => new Date(Date.now() - 3_600_000 - n).toISOString().replace("Z", "000Z");
const CALLS_AT_ONCE = 16;

function made(world: World, table: TableName, body: Record<string, unknown>): Row {
  const model = models[table];
  const written = model === undefined ? { faults: { table } } : create(world, model, body);
  if ("faults" in written) throw new Error(JSON.stringify(written.faults));
  return written.after;
}

/** One device with its interface, MAC and two addresses, as NetBox stores them; ids are the sample's. */
function sampleRows(world: World, { device }: Sample): readonly (readonly [TableName, Row])[] {
  const tables: readonly TableName[] = ["devices", "interfaces", "mac-addresses", "ip-addresses"];
  for (const table of tables) world.ids[table] = device.id - 1;
  const { shown } = device;
  const row = made(world, "devices", {
    name: device.name,
    serial: device.serial,
    status: device.status,
    device_type: { slug: "mini-800" },
    role: { slug: "fleet-node" },
    site: { slug: "lab" },
    custom_fields: {
      fleet_class: device.fleetClass,
      install_disk: device.installDisk,
      install_disk_serial: device.installDiskSerial,
      bmc_type: device.bmcType,
      approved_eks: device.approvedEks,
      attestation_verdict: shown.attestationVerdict,
      attested_at: shown.attestedAt,
      dbx_hash: shown.dbxHash,
      sbat_level: shown.sbatLevel,
      fleet_run: shown.fleetRun,
      fleet_identity: shown.fleetIdentity,
    },
  });
  const port = made(world, "interfaces", { device: row.id, name: "eno1", type: "1000base-t" });
  const assigned = { assigned_object_type: "dcim.interface", assigned_object_id: port.id };
  const mac = made(world, "mac-addresses", { mac_address: device.interfaces[0]?.primaryMac ?? "", ...assigned });
  const address = made(world, "ip-addresses", { address: device.address, ...assigned });
  world.ids["ip-addresses"] = 8_000_000 + device.id - 1;
  const outOfBand = made(world, "ip-addresses", { address: `${device.oobAddress}/16`, ...assigned });
  return [
    ["devices", { ...row, primary_ip4: address.id, oob_ip: outOfBand.id }],
    ["interfaces", { ...port, primary_mac_address: mac.id }],
    ["mac-addresses", mac],
    ["ip-addresses", address],
    ["ip-addresses", outOfBand],
  ];
}

function netboxState(sample: Sample): string {
  const world = emptyWorld("4.7.3");
  seed(world, { role: "fleet-node" });
  const rows = sampleRows(world, sample);
  for (let n = 0; n < devices; n++)
    for (const [table, row] of rows) {
      const own: Row = ofDevice({ ...row, last_updated: anHourAgo(n) }, n);
      // The second address's id is above all others': it does not hold the sample's number.
      const id = row.id > 10_000_000 ? row.id + n : own.id;
      const outOfBand = typeof own.oob_ip === "number" ? { oob_ip: own.oob_ip + n } : {};
      world.tables[table].set(id, { ...own, ...outOfBand, id });
    }
  world.ids["object-changes"] = 1;
  const file = join(folder, "netbox.json");
  writeFileSync(file, dump(world));
  return file;
}

async function eachAtOnce<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const rest = all[Symbol.iterator]();
  const worker = async () => {
    for (const one of rest) await work(one);
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, worker));
}

const sample = await restingSample();
const tokens = [
  { token: OWNER, user: "admin", write: true },
  { token: FLEETD, user: "fleetd", write: true, scope: "fleetd" as const },
];
const netbox = await startLabNetBox({ tokens, state: netboxState(sample) });
const kubernetes = async (kinds: "tinkerbell" | "cluster") => {
  const server = await startLabKubernetes({
    kinds,
    tokens: [{ token: "t", user: "fleetd", groups: ["system:masters"] }],
  });
  writeKubeconfig(join(folder, kinds), server.url, "t", "tinkerbell", server.caPem);
  return { server, client: new LabClient({ url: server.url, caPem: server.caPem, token: "t" }) };
};
const [plane, cluster] = [await kubernetes("tinkerbell"), await kubernetes("cluster")];
await eachAtOnce(
  Array.from({ length: devices }, (_, n) => ofDevice(sample, n)),
  async (one) => {
    for (const { api, path, object, status } of objectsOf(one)) {
      const client = api === "tinkerbell" ? plane.client : cluster.client;
      await client.call("POST", path, object);
      if (status !== undefined) await client.call("PATCH", `${path}/${object.metadata.name}/status`, { status });
    }
  },
);
process.once("SIGTERM", () => process.exit(0));
const urls = { netbox: netbox.url, tinkerbell: plane.server.url, cluster: cluster.server.url };
process.stdout.write(`ready ${JSON.stringify({ ...urls, owner: OWNER, fleetd: FLEETD, firstId: sample.device.id })}\n`);
