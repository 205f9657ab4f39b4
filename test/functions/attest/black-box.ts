import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beginRefusals } from "./begin-refusals.ts";
import { Box, expectCode, type Host, type OldSession } from "./box.ts";
import { evidenceRefusals } from "./evidence-refusals.ts";
import { HOOKOS_MARKER, type Peers } from "./peers.ts";

/** begin and evidence over HTTP: one suite for Node and for bare workerd. @see spec/10-protocol.md */
export function attestBlackBox(startHost: (peers: Peers) => Promise<Host>): void {
  let box: Box;
  let old: OldSession;

  beforeAll(async () => {
    box = await Box.open(startHost);
    const { machine } = await box.declared();
    // fleetd's memory of the fleet begins with the first evidence; requests before it are held.
    await machine.evidence(await machine.begun());
    old = { machine, begun: await machine.begun(), atMs: Date.now() };
  });
  afterAll(() => box?.close());

  describe("the ordinary path", () => {
    it("challenges both approved EKs, in the order of their digests, and issues both certificates", async () => {
      const { machine } = await box.declared();
      const begun = await machine.begun();
      expect(begun.challenges.map((c) => c.ek)).toEqual([box.rsa, box.ecc].sort());
      expect(begun.pcrs).toEqual({ bank: "sha256", select: [0, 1, 2, 3, 4, 5, 6, 7] });
      expect(Buffer.from(begun.nonce, "base64")).toHaveLength(32);
      const { status, body } = await machine.evidence(begun);
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.verdict).toMatchObject({ result: "pass", secureBoot: true, profile: "strict" });
      expect(Buffer.from(String(body.confirm), "base64")).toHaveLength(32);
      const [ldevid, lak] = [body.ldevid, body.lak].map((pem) => new X509Certificate(String(pem)));
      const issuer = new X509Certificate(box.peers.issuer.chainPem);
      for (const certificate of [ldevid, lak]) expect(certificate?.verify(issuer.publicKey)).toBe(true);
      expect(ldevid?.subject).toContain(machine.serial);
      const { x, y } = ldevid?.publicKey.export({ format: "jwk" }) ?? {};
      const { unique } = machine.ldevid.area;
      expect(unique).toEqual({ x: Buffer.from(x ?? "", "base64url"), y: Buffer.from(y ?? "", "base64url") });
      // The owner set it planned, which is a fresh request: a year.
      const days = (Date.parse(ldevid?.validTo ?? "") - Date.now()) / 86_400_000;
      expect(days).toBeGreaterThan(360);
      expect(await box.peers.macs()).toContain(machine.mac);
    });

    it.each([
      ["RSA", () => box.rsa],
      ["ECC", () => box.ecc],
    ])("challenges the one approved %s EK and ignores the other", async (_kind, digest) => {
      const { machine } = await box.declared({ eks: [digest()] });
      const begun = await machine.begun();
      expect(begun.challenges.map((c) => c.ek)).toEqual([digest()]);
      expect((await machine.evidence(begun)).status).toBe(200);
    });

    it("gives an active device without a request certificates of an hour", async () => {
      const { machine } = await box.declared({ status: "active" });
      const { body } = await machine.evidence(await machine.begun());
      const hours = (Date.parse(new X509Certificate(String(body.ldevid)).validTo) - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(0.9);
      expect(hours).toBeLessThan(1.1);
    });

    it("gives a decommissioning device a verdict and no certificate", async () => {
      const { machine } = await box.declared({ status: "decommissioning" });
      const { status, body } = await machine.evidence(await machine.begun());
      expect(status).toBe(200);
      expect(body).toMatchObject({ verdict: { result: "pass" }, ldevid: null, lak: null });
    });

    it("quotes the bank and the PCRs of the class's profile", async () => {
      const wide = await box.declared({ fleetClass: "wide" });
      const begun = await wide.machine.begun();
      expect(begun.pcrs.bank).toBe("sha384");
      expect((await wide.machine.evidence(begun)).status).toBe(200);
      const marked = await box.declared({ fleetClass: "marked" }, `quiet ${HOOKOS_MARKER}`);
      const more = await marked.machine.begun();
      expect(more.pcrs).toEqual({ bank: "sha256", select: [0, 1, 2, 3, 4, 5, 6, 7, 9] });
      expect((await marked.machine.evidence(more)).status).toBe(200);
    });

    it("takes a refused machine again with a new session", async () => {
      const { machine } = await box.declared();
      expectCode(await machine.evidence(await machine.begun(), { eventLog: "" }), 403, "event-log-missing");
      expect((await machine.evidence(await machine.begun())).status).toBe(200);
    });
  });

  describe("begin refuses", () => beginRefusals(() => box));
  describe("evidence refuses", () => evidenceRefusals(() => ({ box, old })));
}
