import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { lldpFrame } from "../../infra/lab/machine/machine.ts";
import { pemBytes } from "../../infra/lab/machine/pem.ts";
import { OwnerAtNetBox } from "../../infra/lab/story/netbox.ts";
import { missingTools } from "../../infra/lab/tpm/swtpm.ts";
import { type Lab, startLab } from "../../infra/lab/world/lab.ts";
import { HOOKOS_MARKER, OS_MARKER } from "../../infra/lab/world/material.ts";
import { callAdmin } from "../../infra/lab/world/timer.ts";
import { Node, type NodeSite } from "../functions/renew/node.ts";
import { type NodeTpm, SoftwareNodeTpm } from "../functions/renew/node-tpm.ts";
import { SwtpmNode } from "../functions/renew/swtpm-node.ts";
import { run } from "../infra/fleetctl/cli.ts";
import { aDevice } from "../scenarios/fixtures.ts";

const PORT = { chassisMac: "02:00:5e:00:00:00", systemName: "sw-000", port: "port9" };

interface View {
  readonly status: string;
  readonly quarantined: boolean;
  readonly identity: { readonly expires: string; readonly ldevid: { readonly serialNumber: string } } | null;
  readonly conditions: readonly { readonly type: string }[];
}

let state = "";
let lab: Lab;
let owner: OwnerAtNetBox;
let tpm: NodeTpm;
let node: Node;

const view = async (): Promise<View> => {
  const { text } = await callAdmin(lab.paths, `${lab.urls.admin}/devices/w1`, lab.material.adminToken);
  return JSON.parse(text) as View;
};
const listed = async () => readFileSync(lab.paths.spireNodes, "utf8").includes('"w1"');
const soon = { timeout: 20_000, interval: 200 };

beforeAll(async () => {
  state = mkdtempSync(join(tmpdir(), "fleetd-lab-renewal-"));
  const classes = fileURLToPath(new URL("../../infra/lab/defaults/classes.json", import.meta.url));
  lab = await startLab({ state, classes, profiles: null, passEveryMs: 300 });
  tls.setDefaultCACertificates([...tls.rootCertificates, readFileSync(lab.paths.tls.ca, "utf8")]);
  owner = new OwnerAtNetBox(lab);
  tpm = missingTools().length === 0 ? await SwtpmNode.open() : await SoftwareNodeTpm.open();
  const eks = tpm.eks.map(({ digest }) => ({ digest, source: "SUPPLIER:1" }));
  const { name, serial } = aDevice();
  const declared = { name, serial, number: 9, switchPort: PORT.port, diskSerial: "DISK-W1", withBmc: false };
  await owner.declare({ ...declared, eks });
  const good = { der: pemBytes(lab.material.authority.good) };
  const site: NodeSite = {
    device: lab.urls.device,
    admin: lab.urls.admin,
    signers: { hookos: good, os: good, foreign: { der: pemBytes(lab.material.authority.foreign) } },
    hookosCommandLine: `console=tty0 ${HOOKOS_MARKER}`,
    osCommandLine: `talos.platform=metal ${OS_MARKER}`,
    lldp: Buffer.from(lldpFrame(PORT)).toString("base64"),
    uuid: async () => "4c4c4544-0034-4410-8043-b7c04f335131",
    becomesActive: () => vi.waitFor(async () => expect(await owner.status("w1")).toBe("active"), soon),
  };
  node = await Node.installed(tpm, site);
}, 90_000);

afterAll(async () => {
  await tpm?.close();
  await lab?.stop();
  rmSync(state, { recursive: true, force: true });
});

test("an installed node renews over TLS, and NetBox, look-ups, the SPIRE list and the evidence folder follow", async () => {
  await expect.poll(listed, soon).toBe(true);
  const before = await view();
  await node.renewed(await tpm.create("ldevid"));
  const after = await view();
  expect(after.identity?.ldevid.serialNumber).not.toBe(before.identity?.ldevid.serialNumber);
  expect(Date.parse(after.identity?.expires ?? "") - Date.now()).toBeGreaterThan(360 * 86_400_000);
  const serial = async () => {
    const { fleet_identity: shown } = (await owner.device("w1")).custom_fields;
    return (shown as { ldevid: { serial: string } }).ldevid.serial;
  };
  await expect.poll(serial, soon).toBe(after.identity?.ldevid.serialNumber);
  const file = readdirSync(lab.paths.evidence, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .sort()
    .at(-1);
  const judged = await run(["verify", join(lab.paths.evidence, file ?? ""), "--profiles", lab.paths.profiles]);
  expect(judged.out).toContain("accepted, as renewal, by profile lab");
}, 60_000);

test("a fleet where nothing happens has nothing to do: a pass without a step", async () => {
  const report = async () => {
    const { text } = await callAdmin(lab.paths, `${lab.urls.admin}/reconcile`, lab.material.adminToken, "POST", "{}");
    const { devices, steps, skipped } = JSON.parse(text) as { devices: number; steps: number; skipped: boolean };
    return { devices, steps, skipped };
  };
  await expect.poll(report, soon).toEqual({ devices: 1, steps: 0, skipped: false });
  await expect.poll(report, soon).toEqual({ devices: 1, steps: 0, skipped: false });
}, 60_000);

test("HookOS in the running system's place: refused, quarantined in NetBox, off the SPIRE list, and back", async () => {
  await node.boot("hookos", `console=tty0 ${HOOKOS_MARKER}`);
  expect((await node.renewal()).body.code).toBe("authority-not-accepted");
  const shown = async () => (await owner.device("w1")).custom_fields.attestation_verdict;
  await expect.poll(shown, soon).toMatchObject({ value: "fail" });
  expect(await view()).toMatchObject({ quarantined: true });
  await expect.poll(listed, soon).toBe(false);
  await node.boot("os", `talos.platform=metal ${OS_MARKER}`);
  expect((await node.renewal()).body).toMatchObject({ code: "quarantined", verdict: { result: "pass" } });
  await expect.poll(async () => (await view()).quarantined, soon).toBe(false);
  await expect.poll(listed, soon).toBe(true);
  await node.renewed();
}, 60_000);

test("decommissioning ends it", async () => {
  await owner.setStatus("w1", "decommissioning");
  await expect.poll(async () => (await node.begin()).body.code, soon).toBe("not-expected");
}, 60_000);
