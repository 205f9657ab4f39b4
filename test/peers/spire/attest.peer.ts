import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { OwnerAtNetBox } from "../../../infra/lab/story/netbox.ts";
import type { Lab } from "../../../infra/lab/world/lab.ts";
import { installedNode, type LabNode, soon } from "../../functions/renew/lab-node.ts";
import type { Node } from "../../functions/renew/node.ts";
import { SwtpmNode } from "../../functions/renew/swtpm-node.ts";
import { type SpireNode, type SpireServer, startSpire, TRUST_DOMAIN } from "./start.ts";

// fleetd (in the lab) issues the LDevID, a real swtpm holds its key, and SPIRE's own server and agent judge both.

const WORKLOAD = `spiffe://${TRUST_DOMAIN}/workload`;
const listSchema = z.object({
  nodes: z.array(z.object({ name: z.string(), spiffe_id: z.string(), ldevid_subject: z.string() })),
});

let state = "";
let site: LabNode | undefined;
let lab: Lab;
let owner: OwnerAtNetBox;
let tpm: SwtpmNode;
let node: Node;
let spire: SpireServer;

const listed = () => listSchema.parse(JSON.parse(readFileSync(lab.paths.spireNodes, "utf8"))).nodes;
const tpmPath = () => tpm.tcti.replace("swtpm:path=", "");
const held = (): SpireNode => {
  const { ldevid, certificates } = node;
  return { tpmPath: tpmPath(), certificates: certificates.ldevid, public: ldevid.public, private: ldevid.private };
};

/** The value after `CN=` of a subject as RFC 4514 writes it. */
const commonName = (subject: string) => /(?:^|,)CN=([^,]+)/.exec(subject)?.[1] ?? "";

/** What a registrar does: an entry for each node of the list, and none for others. */
async function register(): Promise<void> {
  const shown = await spire.tell("entry", "show", "-output", "json");
  const { entries } = z
    .object({ entries: z.array(z.looseObject({ id: z.string(), spiffe_id: z.object({ path: z.string() }) })) })
    .parse(JSON.parse(shown));
  const wanted = listed();
  for (const { id, spiffe_id } of entries)
    if (spiffe_id.path.startsWith("/node/") && !wanted.some((n) => n.spiffe_id.endsWith(spiffe_id.path)))
      await spire.tell("entry", "delete", "-entryID", id);
  for (const { spiffe_id, ldevid_subject } of wanted) {
    if (entries.some((e) => spiffe_id.endsWith(e.spiffe_id.path))) continue;
    const selector = `tpm_devid:subject:cn:${commonName(ldevid_subject)}`;
    await spire.tell("entry", "create", "-node", "-spiffeID", spiffe_id, "-selector", selector);
  }
}

beforeAll(async () => {
  state = mkdtempSync(join(tmpdir(), "fleetd-spire-"));
  tpm = await SwtpmNode.open();
  site = await installedNode(state, tpm);
  ({ lab, owner, node } = site);
  const devidCa = readFileSync(lab.paths.issuer.chain, "utf8");
  spire = await startSpire(join(state, "spire"), { devidCa, endorsementCa: tpm.endorsementCa() });
}, 240_000);

afterAll(async () => {
  await spire?.stop();
  await tpm?.close();
  await site?.stop();
});

test("an agent attests by tpm_devid with the LDevID that fleetd issued, and a workload gets its SVID by the list's entry", async () => {
  await expect.poll(() => listed().map((n) => n.name), soon).toEqual(["w1"]);
  await register();
  const alias = listed()[0]?.spiffe_id ?? "";
  const uid = String(process.getuid?.() ?? 0);
  await spire.tell("entry", "create", "-parentID", alias, "-spiffeID", WORKLOAD, "-selector", `unix:uid:${uid}`);
  const agent = await spire.agent(held());
  expect(await agent.refused()).toBeNull();
  expect(await spire.tell("agent", "list")).toContain("tpm_devid");
  await expect.poll(() => agent.svids(), soon).toEqual([WORKLOAD]);
  await agent.stop();
});

test("a renewed LDevID, a new key below the same name, is the same node to SPIRE", async () => {
  const before = node.certificates.ldevid;
  await node.renewed(await tpm.create("ldevid"));
  expect(node.certificates.ldevid).not.toBe(before);
  const agent = await spire.agent(held());
  expect(await agent.refused()).toBeNull();
  await expect.poll(() => agent.svids(), soon).toEqual([WORKLOAD]);
  await agent.stop();
});

test("a certificate of another issuer, and another key under fleetd's certificate, are refused", async () => {
  const other = await tpm.create("ldevid");
  const wrongKey = await spire.agent({ ...held(), public: other.public, private: other.private });
  expect(await wrongKey.refused()).toContain("devID challenge verification failed");
  await wrongKey.stop();
  const at = (name: string) => join(state, name);
  execFileSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"],
    ...["-subj", `/CN=${commonName(listed()[0]?.ldevid_subject ?? "")}`, "-keyout", at("x.key"), "-out", at("x.pem")],
  ]);
  const foreign = await spire.agent({ ...held(), certificates: readFileSync(at("x.pem"), "utf8") });
  expect(await foreign.refused()).toContain("certificate signed by unknown authority");
  await foreign.stop();
});

test("a device that is being retired leaves spire-nodes.json; once its entry is gone the node's workloads get nothing", async () => {
  const agent = await spire.agent(held());
  expect(await agent.refused()).toBeNull();
  await expect.poll(() => agent.svids(), soon).toEqual([WORKLOAD]);
  await owner.setStatus("w1", "decommissioning");
  await expect.poll(listed, soon).toEqual([]);
  await register();
  // The agent asks its server again every five seconds.
  await expect.poll(() => agent.svids(), { timeout: 40_000, interval: 1000 }).toEqual([]);
  await agent.stop();
}, 90_000);
