import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyBundle } from "../../../shared/attest/bundle.ts";
import { loadProfile } from "../../../shared/attest/profile.ts";
import { QUARANTINE_TAINT } from "../../../shared/fleet/cluster.ts";
import { Node } from "./node.ts";
import type { NodeTpm } from "./node-tpm.ts";
import { ID, RenewWorld } from "./world.ts";

const YEAR_MS = 365 * 86_400_000;

/** One machine's life from its enrolment on, by a TPM whose keys are loaded again after each boot. */
export function renewalSuite(name: string, open: () => Promise<NodeTpm>): void {
  describe(name, () => {
    let tpm: NodeTpm;
    let world: RenewWorld;
    let node: Node;
    beforeAll(async () => {
      tpm = await open();
      world = await RenewWorld.start({ eks: tpm.eks.map((ek) => ek.digest) });
      node = await Node.installed(tpm, world);
    });
    afterAll(async () => {
      await world?.close();
      await tpm?.close();
    });

    const identity = async () => (await world.record()).identity;

    test("enrolled, installed, rebooted: its certificates are the recorded ones", async () => {
      const recorded = await identity();
      const ldevid = new X509Certificate(node.certificates.ldevid);
      expect(recorded?.ldevid.serialNumber).toBe(ldevid.serialNumber.toLowerCase());
      expect((await world.record()).installed?.class.name).toBe("talos-worker");
    });

    test("the same key, certified or not: certificates for a year, recorded before the answer", async () => {
      const before = node.certificates;
      const shown = await node.evidence(await node.request(await node.begun(), node.ldevid, { uncertified: true }));
      expect([shown.status, shown.body.code]).toEqual([200, undefined]);
      node.certificates = { ldevid: String(shown.body.ldevid), lak: String(shown.body.lak) };
      const ldevid = new X509Certificate(node.certificates.ldevid);
      const old = new X509Certificate(before.ldevid);
      expect(ldevid.publicKey.equals(old.publicKey)).toBe(true);
      expect(ldevid.serialNumber).not.toBe(old.serialNumber);
      expect([ldevid.subject, ldevid.subjectAltName]).toEqual([old.subject, old.subjectAltName]);
      expect(Math.abs(Date.parse(ldevid.validTo) - Date.now() - YEAR_MS)).toBeLessThan(60_000);
      expect((await identity())?.ldevid.serialNumber).toBe(ldevid.serialNumber.toLowerCase());
      expect((await world.record()).verdict).toMatchObject({ result: "pass", by: "renewal" });
      await node.renewed();
    });

    test("NetBox shows it, the journal says it, the bundle is judged the same offline", async () => {
      await world.pass();
      const recorded = await identity();
      expect(world.deps.world.netbox.row(ID).shown.fleetIdentity).toMatchObject({
        ldevid: { serial: recorded?.ldevid.serialNumber },
        lak: { serial: recorded?.lak.serialNumber },
      });
      expect(world.journal().filter((line) => line.includes("identity renewed until"))).toHaveLength(2);
      const bundle = world.bundles().at(-1);
      expect(bundle).toMatchObject({ purpose: "renewal", profile: "apart", device: "w1" });
      const loaded = loadProfile(world.deps.world.policyTexts.profiles.apart);
      if (!loaded.ok) throw new Error(loaded.problem);
      const again = verifyBundle(bundle, { profile: loaded.profile });
      expect([again.verdict, again.codes]).toEqual(["accepted", []]);
      expect(verifyBundle(bundle, { profile: loaded.profile, purpose: "intake" }).verdict).toBe("refused");
    });

    test("a new key: the certificates are for it, and it signs the next renewal", async () => {
      const fresh = await tpm.create("ldevid");
      const old = new X509Certificate(node.certificates.ldevid);
      await node.renewed(fresh);
      const ldevid = new X509Certificate(node.certificates.ldevid);
      expect(ldevid.publicKey.equals(old.publicKey)).toBe(false);
      await node.renewed();
    });

    test("an answer that was lost: the old certificates renew again, until the new ones were used once", async () => {
      const first = node.certificates;
      const lost = await node.renewal();
      expect(lost.status).toBe(200);
      await node.renewed();
      const second = node.certificates;
      await node.renewed();
      for (const gone of [first, { ldevid: String(lost.body.ldevid), lak: String(lost.body.lak) }]) {
        const { status, body } = await node.begin({ ...gone });
        expect([status, body.code]).toEqual([403, "identity-unknown"]);
      }
      // The last one is used up too, once its successor is.
      await node.renewed();
      expect((await node.begin({ ...second })).body.code).toBe("identity-unknown");
    });

    test("a wrong boot is refused, and the next pass quarantines", async () => {
      world.joinCluster();
      await node.boot("foreign", "fleet_stage=os");
      const before = await identity();
      const refused = await node.renewal();
      expect([refused.status, refused.body.code]).toEqual([403, "authority-not-accepted"]);
      expect([refused.body.ldevid, refused.body.lak]).toEqual([undefined, undefined]);
      await world.pass();
      const record = await world.record();
      expect(record.quarantine).toMatchObject({ by: "renewal", node: "w1" });
      expect(record.identity).toEqual(before);
      const [joined] = world.deps.world.cluster.nodeList;
      expect(joined?.unschedulable).toBe(true);
      expect(joined?.taints.map((taint) => taint.key)).toContain(QUARANTINE_TAINT);
      expect(world.deps.world.netbox.row(ID).shown.attestationVerdict).toBe("fail");
      expect(record.conditions.map((one) => one.type)).toEqual(
        expect.arrayContaining(["AttestationFailed", "Quarantined"]),
      );
    });

    test("quarantined: judged, nothing issued; a passing quote lifts it, the next one renews", async () => {
      await node.boot("hookos", "fleet_stage=os");
      expect((await node.renewal()).body.code).toBe("authority-not-accepted");
      expect((await world.record()).quarantine).not.toBeNull();
      await node.boot("os", "fleet_stage=os");
      const before = await identity();
      const judged = await node.renewal();
      expect([judged.status, judged.body.code]).toEqual([403, "quarantined"]);
      expect(judged.body).toMatchObject({ verdict: { result: "pass" } });
      expect([judged.body.ldevid, await identity()]).toEqual([undefined, before]);
      expect((await world.record()).quarantine).toBeNull();
      await world.pass();
      const [joined] = world.deps.world.cluster.nodeList;
      expect([joined?.unschedulable, joined?.taints]).toEqual([false, []]);
      await node.renewed();
    });

    test("decommissioning and offline: refused at begin, and in a session that began before", async () => {
      const begun = await node.begun();
      const request = await node.request(begun);
      const before = await world.record();
      world.deps.world.netbox.owner(ID, { status: "decommissioning" });
      expect((await node.begin()).body.code).toBe("not-expected");
      const refused = await node.evidence(request);
      expect([refused.status, refused.body.code]).toEqual([409, "not-expected"]);
      expect(await world.record()).toEqual(before);
      world.deps.world.netbox.owner(ID, { status: "offline" });
      expect((await node.begin()).body.code).toBe("not-expected");
      world.deps.world.netbox.owner(ID, { status: "active" });
      await node.renewed();
    });
  });

  describe(`${name}, where one key signs HookOS and the system`, () => {
    let tpm: NodeTpm;
    let world: RenewWorld;
    let node: Node;
    beforeAll(async () => {
      tpm = await open();
      world = await RenewWorld.start({ eks: tpm.eks.map((ek) => ek.digest), profile: "marked" });
      node = await Node.installed(tpm, world, "hookos");
    });
    afterAll(async () => {
      await world?.close();
      await tpm?.close();
    });

    test("the measured command line tells them apart: the system renews, HookOS does not", async () => {
      expect((await node.begun()).pcrs.select).toContain(9);
      await node.renewed();
      await node.boot("hookos", "fleet_stage=hookos");
      const refused = await node.renewal();
      expect([refused.status, refused.body.code]).toEqual([403, "authority-not-accepted"]);
      // A report that names another line than was measured.
      node.commandLine = "fleet_stage=os";
      expect((await node.renewal()).body.code).toBe("authority-not-accepted");
    });
  });
}
