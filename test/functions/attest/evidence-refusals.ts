import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { type Box, expectCode, type OldSession } from "./box.ts";
import { type Answer, type Begun, base64, flipped, Machine } from "./machine.ts";
import { SESSION_MS } from "./peers.ts";

/** Every refusal of evidence that can be made on the wire. */
export function evidenceRefusals(world: () => { readonly box: Box; readonly old: OldSession }): void {
  const unproven = async (answer: Answer, code: string, check: string) => {
    expectCode(answer, 403, code);
    const { verdict } = answer.body as { verdict: { result: string; checks: { name: string; ok: boolean }[] } };
    expect(verdict.result).toBe("fail");
    expect(verdict.checks.map((c) => c.name)).toEqual([check]);
  };

  it("session-used: a replay, after success and after a failure", async () => {
    const { machine } = await world().box.declared();
    const begun = await machine.begun();
    const body = await machine.evidenceBody(begun);
    expect((await machine.post("evidence", body)).status).toBe(200);
    expectCode(await machine.post("evidence", body), 401, "session-used");
    const second = await machine.begun();
    expect((await machine.evidence(second, { activations: [] })).status).toBe(403);
    expectCode(await machine.evidence(second), 401, "session-used");
  });

  it("session-used: of twenty replays at once one is served", async () => {
    const { machine } = await world().box.declared();
    const body = await machine.evidenceBody(await machine.begun());
    const answers = await Promise.all(Array.from({ length: 20 }, () => machine.post("evidence", body)));
    expect(answers.map((a) => a.status).sort()).toEqual([200, ...Array<number>(19).fill(401)]);
  });

  it("session-used: a token of confirm, and begin's token at confirm", async () => {
    const { machine } = await world().box.declared();
    const { body } = await machine.evidence(await machine.begun());
    const begun = await machine.begun();
    expectCode(await machine.evidence({ ...begun, session: String(body.session) }), 401, "session-used");
    const asked = { session: begun.session, signature: "AAAA" };
    expectCode(await machine.post("confirm", asked), 401, "session-used");
  });

  it("session-expired: no token of ours", async () => {
    const { machine } = await world().box.declared();
    const begun = await machine.begun();
    const tampered = `${begun.session.slice(0, -3)}AAA`;
    for (const session of ["", "x", "a.b.c.d.e", tampered])
      expectCode(await machine.evidence({ ...begun, session }), 401, "session-expired");
  });

  it("activation-failed: a wrong secret, one too few, the other order", async () => {
    const { machine } = await world().box.declared();
    const tries: ((right: string[]) => string[])[] = [
      (right) => [right[0] ?? "", base64(Buffer.alloc(32))],
      (right) => right.slice(0, 1),
      (right) => [...right].reverse(),
      (right) => [...right, base64(Buffer.alloc(32))],
      () => [],
    ];
    for (const wrong of tries) {
      const begun = await machine.begun();
      const answer = await machine.evidence(begun, { activations: wrong(await machine.activations(begun)) });
      await unproven(answer, "activation-failed", "activations");
    }
  });

  it("quote-invalid: signature, nonce, a report that was not quoted, PCR values, another AK, selection", async () => {
    const { machine } = await world().box.declared();
    const refused = async (change: (b: Begun) => Record<string, unknown>, check: string, report?: Uint8Array) => {
      const begun = await machine.begun();
      await unproven(await machine.evidence(begun, change(begun), report), "quote-invalid", check);
    };
    const wire = (quote: ReturnType<Machine["quote"]>) => ({
      quote: { attest: base64(quote.attest), signature: base64(quote.signature) },
      pcrs: quote.pcrs,
    });
    const made = (b: Begun) => machine.quote(b, machine.report());
    await refused(
      (b) => ({ quote: { ...wire(made(b)).quote, signature: flipped(wire(made(b)).quote.signature, -1) } }),
      "quote-signature",
    );
    await refused((b) => wire(made({ ...b, nonce: base64(Buffer.alloc(32)) })), "quote-nonce");
    await refused(() => ({ report: base64(machine.report({ mac: "52:54:00:ff:ff:ff" })) }), "quote-nonce");
    await refused(
      () => ({ pcrs: { ...world().box.tpm.quote(machine.ak, "sha256", [0], Buffer.of()).pcrs } }),
      "quote-pcrs",
    );
    await refused((b) => ({ pcrs: { ...made(b).pcrs, 7: "a".repeat(64) } }), "quote-digest");
    await refused(
      (b) => wire(machine.quote({ ...b, pcrs: { ...b.pcrs, select: [0, 7] } }, machine.report())),
      "quote-selection",
    );
    await refused(
      (b) => wire(machine.quote({ ...b, pcrs: { ...b.pcrs, bank: "sha384" } }, machine.report())),
      "quote-selection",
    );
    await refused((b) => ({ quote: { ...wire(made(b)).quote, attest: "AAAA" } }), "quote-structure");
    const stranger = new Machine(world().box.tpm, world().box.host.url);
    await refused((b) => wire(stranger.quote(b, machine.report())), "quote-signature");
  });

  it("certify-invalid: another key's, another signer's, a quote in its place", async () => {
    const { machine } = await world().box.declared();
    const stranger = new Machine(world().box.tpm, world().box.host.url);
    const wire = (s: { attest: Uint8Array; signature: Uint8Array }) => ({
      ldevidCertify: { attest: base64(s.attest), signature: base64(s.signature) },
    });
    for (const statement of [
      world().box.tpm.certify(machine.ak, stranger.ldevid, Buffer.of()),
      world().box.tpm.certify(stranger.ak, machine.ldevid, Buffer.of()),
      world().box.tpm.quote(machine.ak, "sha256", [0], Buffer.of()),
    ]) {
      const answer = await machine.evidence(await machine.begun(), wire(statement));
      expectCode(answer, 403, "certify-invalid");
    }
  });

  it("event-log-missing, -malformed, -mismatch", async () => {
    const { machine } = await world().box.declared();
    const cut = machine.eventLog.slice(0, -5);
    expectCode(await machine.evidence(await machine.begun(), { eventLog: "" }), 403, "event-log-missing");
    expectCode(await machine.evidence(await machine.begun(), { eventLog: base64(cut) }), 403, "event-log-malformed");
    const whole = machine.eventLog;
    await machine.boot(world().box.foreign());
    const answer = await machine.evidence(await machine.begun(), { eventLog: base64(whole) });
    expectCode(answer, 403, "event-log-mismatch");
  });

  it("authority-not-accepted: signed by another authority, which the same firmware trusts", async () => {
    const { machine } = await world().box.declared();
    await machine.boot(world().box.foreign());
    const answer = await machine.evidence(await machine.begun());
    expectCode(answer, 403, "authority-not-accepted");
    expect(answer.body.verdict).toMatchObject({ result: "fail", codes: ["authority-not-accepted"] });
  });

  it("secure-boot-mismatch: off, with every other reason named too", async () => {
    const { machine } = await world().box.declared();
    await machine.boot({ ...world().box.good(), secureBoot: false });
    const answer = await machine.evidence(await machine.begun());
    expectCode(answer, 403, "secure-boot-mismatch");
    expect((answer.body.verdict as { codes: string[] }).codes).toContain("authority-not-accepted");
  });

  it("pcr-zero: a TPM that firmware never extended", async () => {
    const { machine } = await world().box.declared();
    await world().box.tpm.powerOn([]);
    expectCode(await machine.evidence(await machine.begun()), 403, "pcr-zero");
  });

  it("profile-missing", async () => {
    const { machine } = await world().box.declared({ fleetClass: "unprofiled" });
    expectCode(await machine.evidence(await machine.begun()), 403, "profile-missing");
  });

  it("not-hookos: the installed system's command line", async () => {
    const { machine } = await world().box.declared({ fleetClass: "marked" }, "fleet_os=talos");
    expectCode(await machine.evidence(await machine.begun()), 403, "not-hookos");
  });

  it("uuid-conflict: the signed report names another UUID", async () => {
    const { machine } = await world().box.declared();
    const report = machine.report({ uuid: "4c4c4544-0034-4410-8043-b7c04f335131" });
    expectCode(await machine.evidence(await machine.begun(), {}, report), 409, "uuid-conflict");
  });

  it("mac-conflict and interface-ambiguous, with the verdict, and no certificate", async () => {
    const first = await world().box.declared({ eks: [world().box.rsa] });
    expect((await first.machine.evidence(await first.machine.begun())).status).toBe(200);
    const second = new Machine(world().box.tpm, world().box.host.url);
    await second.boot(world().box.good());
    await world().box.peers.declare({ name: "second", serial: second.serial, eks: [world().box.ecc], beside: true });
    second.mac = first.machine.mac;
    const taken = await second.evidence(await second.begun());
    expectCode(taken, 409, "mac-conflict");
    expect(taken.body).toMatchObject({ verdict: { result: "pass" } });
    expect(taken.body.ldevid).toBeUndefined();
    const { machine } = await world().box.declared({ interfaces: 2 });
    expectCode(await machine.evidence(await machine.begun()), 409, "interface-ambiguous");
  });

  it("identity-changed, not-expected: NetBox moved between the two steps", async () => {
    const { machine, id } = await world().box.declared({ eks: [world().box.rsa] });
    const begun = await machine.begun();
    await world().box.peers.edit(id, {
      custom_fields: { approved_eks: [world().box.rsa, world().box.ecc].map((digest) => ({ digest, source: "S" })) },
    });
    expectCode(await machine.evidence(begun), 409, "identity-changed");
    const again = await machine.begun();
    await world().box.peers.edit(id, { status: "offline" });
    expectCode(await machine.evidence(again), 409, "not-expected");
  });

  it("a report that is none: 400, and the session is spent", async () => {
    const { machine } = await world().box.declared();
    const begun = await machine.begun();
    expectCode(await machine.evidence(begun, {}, Buffer.from("[]")), 400, "bad-request");
    expectCode(await machine.evidence(begun), 401, "session-used");
  });

  it("session-expired: after its time", async () => {
    const { machine, begun, atMs } = world().old;
    await machine.boot(world().box.good());
    await sleep(Math.max(atMs + SESSION_MS + 1_100 - Date.now(), 0));
    expectCode(await machine.evidence(begun), 401, "session-expired");
  });
}
