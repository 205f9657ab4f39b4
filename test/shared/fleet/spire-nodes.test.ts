import { describe, expect, it } from "vitest";
import type { Device } from "../../../shared/fleet/device.ts";
import { installedAs } from "../../../shared/fleet/installed-name.ts";
import { spireNodes } from "../../../shared/fleet/manifests/spire-nodes.ts";
import { type DeviceRecord, newRecord } from "../../../shared/fleet/record.ts";
import { aRun } from "../../functions/config/world.ts";
import { aDevice, SETTINGS } from "../../scenarios/fixtures.ts";
import { numbered } from "../engine/world.ts";

const NOW = Date.UTC(2026, 10, 29, 12);
const EKS = [`sha256:${"a".repeat(64)}`];
const SUBJECT = "SERIALNUMBER=SN0001,CN=w1.0123456789abcdef";

function running(change: Partial<DeviceRecord> = {}): DeviceRecord {
  const run = aRun({ phase: "ended", result: "success" });
  if (run.class === null) throw new Error("no class");
  const certificate = { serialNumber: "01", spkiSha256: "k", notAfterMs: NOW + 1 };
  return {
    ...newRecord(7, "w1"),
    run,
    installed: { class: run.class, servedAtMs: 1, run: run.name, activatedAtMs: 1 },
    identity: { ldevid: certificate, lak: certificate, subject: SUBJECT, issuedAtMs: 1 },
    verdict: { result: "pass", by: "renewal", atMs: NOW, codes: [], dbxHash: null, sbatLevel: null },
    passedEks: EKS,
    ...change,
  };
}
const active = (change: Partial<Device> = {}): Device => ({ ...aDevice(), status: "active", ...change });
const listed = (device: Device, record = running(), others: Device[] = []) =>
  spireNodes(
    [{ device, record }, ...others.map((o) => ({ device: o, record: newRecord(o.id, o.name) }))],
    SETTINGS,
    NOW,
  );
const W1 = { name: "w1", spiffe_id: "spiffe://example.org/node/w1", serial: "SN0001", ldevid_subject: SUBJECT };

describe("spire-nodes.json", () => {
  it("lists a proven node by what its certificate says", () => {
    expect(listed(active())).toEqual([W1]);
    // An older issuer's subject, in its own order and with more in it.
    const older = running();
    if (older.identity !== null) older.identity.subject = "O=Old\\, CN=x,CN=w1.0123456789abcdef+SERIALNUMBER=SN0001";
    expect(listed(active(), older).map((one) => one.spiffe_id)).toEqual([W1.spiffe_id]);
  });

  it("not while other EKs are approved than those that passed, whatever the status was since", () => {
    const approvedEks = [{ digest: `sha256:${"b".repeat(64)}`, source: "SCAN:2" }];
    expect(listed(active({ approvedEks }))).toEqual([]);
    expect(listed(active({ approvedEks }), running({ acceptedEks: [`sha256:${"b".repeat(64)}`] }))).toEqual([]);
    expect(listed(active(), running({ passedEks: null }))).toEqual([]);
  });

  it("a serial in another case is the same serial; another one is not", () => {
    expect(listed(active({ serial: "sn0001" }))).toEqual([{ ...W1, serial: "sn0001" }]);
    expect(listed(active({ serial: "SN0002" }))).toEqual([]);
  });

  it("a renamed device keeps its SPIFFE id until the next provision, unless another has the name now", () => {
    const renamed = active({ name: "w9" });
    expect(listed(renamed)).toEqual([W1]);
    expect(listed(renamed, running(), [numbered(8, { name: "w1" })])).toEqual([]);
    expect(listed(renamed, running(), [numbered(8, { name: "w1", status: "offline" })])).toEqual([W1]);
    // A namesake takes nothing away from the device that has the name and runs under it.
    expect(listed(active(), running(), [numbered(8, { name: "w1" })])).toEqual([W1]);
  });

  it.each([
    "",
    "CN=w1",
    "CN=w1.0123456789abcdef",
    "CN=w1.0123456789abcdef,CN=w2.0123456789abcdef",
    "O=x,SERIALNUMBER=1",
  ])("no name is read out of %j", (subject) => {
    const { identity } = running();
    expect(installedAs({ identity: identity && { ...identity, subject } })).toBeNull();
  });
});
