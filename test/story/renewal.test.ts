import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnerAtNetBox } from "../../infra/lab/story/netbox.ts";
import { missingTools } from "../../infra/lab/tpm/swtpm.ts";
import type { Lab } from "../../infra/lab/world/lab.ts";
import { HOOKOS_MARKER, OS_MARKER } from "../../infra/lab/world/material.ts";
import { callAdmin } from "../../infra/lab/world/timer.ts";
import { installedNode, type LabNode, soon } from "../functions/renew/lab-node.ts";
import type { Node } from "../functions/renew/node.ts";
import { type NodeTpm, SoftwareNodeTpm } from "../functions/renew/node-tpm.ts";
import { SwtpmNode } from "../functions/renew/swtpm-node.ts";
import { run } from "../infra/fleetctl/cli.ts";

interface View {
  readonly status: string;
  readonly quarantined: boolean;
  readonly identity: { readonly expires: string; readonly ldevid: { readonly serialNumber: string } } | null;
  readonly conditions: readonly { readonly type: string }[];
}

let state = "";
let site: LabNode | undefined;
let lab: Lab;
let owner: OwnerAtNetBox;
let tpm: NodeTpm;
let node: Node;

const view = async (): Promise<View> => {
  const { text } = await callAdmin(lab.paths, `${lab.urls.admin}/devices/w1`, lab.material.adminToken);
  return JSON.parse(text) as View;
};
const listed = async () => readFileSync(lab.paths.spireNodes, "utf8").includes('"w1"');

beforeAll(async () => {
  state = mkdtempSync(join(tmpdir(), "fleetd-lab-renewal-"));
  tpm = missingTools().length === 0 ? await SwtpmNode.open() : await SoftwareNodeTpm.open();
  site = await installedNode(state, tpm);
  ({ lab, owner, node } = site);
}, 90_000);

afterAll(async () => {
  await tpm?.close();
  await site?.stop();
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
