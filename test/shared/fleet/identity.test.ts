import { describe, expect, it } from "vitest";
import { afterIntake } from "../../../shared/fleet/plan/quarantine.ts";
import type { DeviceRecord } from "../../../shared/fleet/record.ts";
import { identityFault, isSameMachine } from "../../../shared/fleet/same-machine.ts";
import { aRun } from "../../functions/config/world.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import type { Model } from "../../scenarios/model.ts";
import { installed } from "../../scenarios/stories.ts";

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const eks = (...letters: string[]) => letters.map((letter) => ({ digest: digest(letter), source: "SCAN:1" }));
const UUID = "4c4c4544-0034-4410-8043-b7c04f335131";
const OTHER = "00000000-1111-4222-8333-444444444444";
const certificate = { serialNumber: "01", spkiSha256: "k", notAfterMs: 1 };
const identity = {
  ldevid: certificate,
  lak: certificate,
  subject: "SERIALNUMBER=SN0001,CN=w1.0123456789abcdef",
  issuedAtMs: 1,
};

/** An active worker whose TPM has passed. */
function running(): Model {
  const m = installed();
  m.record = { ...m.record, identity, uuid: UUID, passedEks: [digest("a")] };
  m.pass();
  return m;
}
const reasons = (m: Model) => m.record.conditions.map((c) => `${c.type}/${c.reason}`);
const dangers = (m: Model) => m.record.journal.filter((l) => l.level === "danger").map((l) => l.text);
const pass = (m: Model, uuid: string): DeviceRecord =>
  afterIntake(
    m.record,
    m.device,
    { result: "pass", by: "intake", atMs: m.nowMs, codes: [], dbxHash: null, sbatLevel: null },
    { uuid, massFailure: false },
  );

describe("approved_eks edited after a pass", () => {
  it.each(["active", "planned", "decommissioning", "offline"])(
    "is a danger line, said once, in status %s",
    (status) => {
      const m = running();
      if (status !== "active") m.owner({ status }, "11111111-1111-4111-8111-111111111111");
      m.owner({ approvedEks: eks("b") }, "22222222-2222-4222-8222-222222222222");
      m.pass();
      m.pass();
      expect(reasons(m)).toContain("IdentityChanged/eks-changed");
      const [line, ...more] = dangers(m).filter((text) => text.includes("EKs") || text.includes("approved_eks"));
      expect(more).toEqual([]);
      expect(line).toMatch(/REINSTALLS the machine: its disk is rewritten .* protected alone prevents/);
    },
  );

  it("under a request that fleetd set planned for: nobody accepted, nothing more is started", () => {
    const m = running();
    m.owner({ desiredAction: "provision" }, "33333333-3333-4333-8333-333333333333");
    m.pass();
    expect([m.device.status, m.record.run?.kind, m.record.run?.phase]).toEqual(["planned", "provision", "waiting"]);
    m.owner({ approvedEks: eks("b") }, "44444444-4444-4444-8444-444444444444");
    m.pass();
    expect(m.record.acceptedEks).toBeNull();
    expect(identityFault(m.device, m.record, OTHER)?.code).toBe("identity-changed");
    m.agent(0, "FAILED", "FAILED");
    m.pass();
    m.owner({ desiredAction: "provision" }, "55555555-5555-4555-8555-555555555555");
    m.pass();
    expect(m.record.run?.phase).toBe("ended");
    expect(reasons(m)).toEqual(
      expect.arrayContaining(["RequestWaits/identity-changed", "IdentityChanged/eks-changed"]),
    );
    expect(identityFault(m.device, m.record, OTHER)?.code).toBe("identity-changed");
  });

  it("accepted by planned: said as a danger too; the pass takes the old TPM's certificates away", () => {
    const m = running();
    m.owner({ approvedEks: eks("b"), status: "planned" }, "66666666-6666-4666-8666-666666666666");
    m.pass();
    expect(m.record.acceptedEks).toEqual([digest("b")]);
    expect(reasons(m)).toContain("IdentityChanged/eks-accepted");
    expect(dangers(m).at(-1)).toMatch(/another TPM is let in; planned REINSTALLS/);
    expect(identityFault(m.device, m.record, OTHER)).toBeNull();
    expect(pass(m, OTHER)).toMatchObject({
      uuid: OTHER,
      passedEks: [digest("b")],
      acceptedEks: null,
      identity: null,
      replacedIdentity: null,
      pendingIdentity: null,
    });
  });

  it("the log away: what was not accepted is not accepted now", () => {
    const m = running();
    m.owner({ approvedEks: eks("b"), status: "planned" }, "77777777-7777-4777-8777-777777777777");
    const { changes } = m;
    m.changes = null;
    m.pass();
    expect(reasons(m)).toContain("IdentityChanged/eks-changed");
    m.changes = changes;
    m.pass();
    expect(reasons(m)).toContain("IdentityChanged/eks-accepted");
  });
});

describe("a pass", () => {
  it("of the same TPM keeps UUID and certificates", () => {
    const m = running();
    expect(pass(m, UUID)).toMatchObject({ uuid: UUID, passedEks: [digest("a")], identity });
  });

  it("binds nothing under decommissioning, nor to EKs that nobody accepted", () => {
    const m = running();
    m.owner({ status: "decommissioning", approvedEks: eks("b") }, "88888888-8888-4888-8888-888888888888");
    expect(pass(m, OTHER)).toMatchObject({ uuid: UUID, passedEks: [digest("a")], identity });
    m.owner({ status: "active" }, "99999999-9999-4999-8999-999999999999");
    expect(pass(m, OTHER)).toMatchObject({ uuid: UUID, passedEks: [digest("a")], identity });
  });
});

describe("a retirement", () => {
  it("is not held up by an edit of the field", () => {
    const m = running();
    m.owner({ approvedEks: eks("b"), status: "decommissioning" }, "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa");
    m.pass();
    expect(m.record.run).toMatchObject({ kind: "retire", phase: "waiting" });
    expect(reasons(m)).toContain("IdentityChanged/eks-changed");
  });
});

describe("what a session proved", () => {
  const device = { ...aDevice(), approvedEks: eks("a", "b") };
  const of = (...letters: string[]) => ({ serial: "sn0001", eks: letters.map((l) => ({ digest: digest(l) })) });

  it("is exactly what is approved, in any order, of that serial in any case", () => {
    expect(isSameMachine(device, of("b", "a"))).toBe(true);
    for (const other of [of("a"), of("a", "b", "c"), of(), { ...of("a", "b"), serial: "SN0002" }])
      expect(isSameMachine(device, other)).toBe(false);
    expect(isSameMachine({ ...device, approvedEks: [] }, of())).toBe(false);
  });

  it("is nothing for a run that froze another serial or other EKs, until it has ended", () => {
    const { record } = running();
    const under = (run: ReturnType<typeof aRun>) => identityFault(aDevice(), { ...record, run }, UUID)?.code ?? null;
    expect(under(aRun())).toBeNull();
    expect(under(aRun({ eks: [digest("b")] }))).toBe("identity-changed");
    expect(under(aRun({ serial: "SN0002" }))).toBe("identity-changed");
    expect(under(aRun({ eks: [digest("b")], phase: "ended" }))).toBeNull();
    expect(identityFault(aDevice(), { ...record, run: null }, OTHER)?.code).toBe("uuid-conflict");
  });
});

describe("a running node whose row was edited", () => {
  it("renamed: keeps its name until the next provision, and says so", () => {
    const m = running();
    m.owner({ name: "w9" }, "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb");
    m.pass();
    expect(reasons(m)).toContain("InstalledName/name-changed");
    m.owner({ name: "w1" }, "cccccccc-cccc-4ccc-8ccc-cccccccccccc");
    m.pass();
    expect(reasons(m)).not.toContain("InstalledName/name-changed");
  });

  it("another serial is said; its case is none", () => {
    const m = running();
    m.owner({ serial: "sn0001" }, "dddddddd-dddd-4ddd-8ddd-dddddddddddd");
    m.pass();
    expect(reasons(m)).not.toContain("IdentityChanged/serial-changed");
    m.owner({ serial: "SN0002" }, "eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee");
    m.pass();
    expect(reasons(m)).toContain("IdentityChanged/serial-changed");
  });
});
