import { describe, expect, it } from "vitest";
import { measureBoot } from "../../../infra/lab/machine/firmware.ts";
import { flipped } from "../attest/machine.ts";
import { boxed, expectRefused } from "./box.ts";
import { type Body, base64 } from "./node.ts";
import { SIGNERS } from "./world.ts";

const box = boxed();

function hookosLog(): Uint8Array {
  const dbCertificates = Object.values(SIGNERS).map((one) => one.der);
  const boot = { authority: SIGNERS.hookos.der, dbCertificates, commandLine: "fleet_stage=hookos", secureBoot: true };
  return measureBoot(boot).eventLog;
}

describe("each field of an accepted request, changed alone", () => {
  const other = async () => box().tpm.create("ldevid");
  type Statement = { readonly attest: string; readonly signature: string };
  const quote = (body: Body) => body.quote as Statement;
  const certify = (body: Body) => body.ldevidCertify as Statement;
  it.each<[string, string, (body: Body) => Promise<Body> | Body]>([
    ["the quote", "quote-invalid", (b) => ({ quote: { ...quote(b), attest: flipped(quote(b).attest, 20) } })],
    [
      "the quote's signature",
      "quote-invalid",
      (b) => ({ quote: { ...quote(b), signature: flipped(quote(b).signature, -1) } }),
    ],
    [
      "the signature's scheme",
      "quote-invalid",
      (b) => ({ quote: { ...quote(b), signature: flipped(quote(b).signature, 1) } }),
    ],
    ["the quote by a statement of the TPM's that is none", "quote-invalid", (b) => ({ quote: b.ldevidCertify })],
    ["a PCR value", "quote-invalid", (b) => ({ pcrs: { ...(b.pcrs as object), 7: "ab".repeat(32) } })],
    ["a PCR value left out", "quote-invalid", (b) => ({ pcrs: { ...(b.pcrs as object), 7: undefined } })],
    ["the report", "quote-invalid", () => ({ report: base64(Buffer.from('{"commandLine":"x"}')) })],
    ["the new key", "quote-invalid", async () => ({ ldevid: { public: base64((await other()).public) } })],
    [
      "certify",
      "certify-invalid",
      (b) => ({ ldevidCertify: { ...certify(b), attest: flipped(certify(b).attest, 10) } }),
    ],
    [
      "certify's signature",
      "certify-invalid",
      (b) => ({ ldevidCertify: { ...certify(b), signature: flipped(certify(b).signature, -1) } }),
    ],
    [
      "certify of another key",
      "certify-invalid",
      async () => {
        const { attest, signature } = await box().tpm.certify(box().node.lak, await other());
        return { ldevidCertify: { attest: base64(attest), signature: base64(signature) } };
      },
    ],
    ["the old key's signature", "renewal-signature-invalid", (b) => ({ signature: flipped(String(b.signature), -1) })],
    [
      "the old key's signature of another scheme",
      "renewal-signature-invalid",
      (b) => ({ signature: flipped(String(b.signature), 1) }),
    ],
    ["no signature", "renewal-signature-invalid", () => ({ signature: "" })],
    [
      "the old key's signature by another key",
      "renewal-signature-invalid",
      async () => ({
        signature: base64(await box().tpm.sign(await other(), Buffer.from("x"))),
      }),
    ],
    ["the event log by that of another boot", "event-log-mismatch", () => ({ eventLog: base64(hookosLog()) })],
    ["no event log", "event-log-missing", () => ({ eventLog: "" })],
    [
      "a byte behind the event log",
      "event-log-malformed",
      (b) => ({ eventLog: base64(Buffer.concat([Buffer.from(String(b.eventLog), "base64"), Buffer.of(0)])) }),
    ],
  ])("%s: %s", async (_what, code, change) => {
    const { node, world } = box();
    const before = await world.record();
    const kept = world.bundles().length;
    const honest = await node.request(await node.begun(), await box().tpm.create("ldevid"));
    expectRefused(await node.evidence({ ...honest, ...(await change(honest)) }), 403, code);
    const after = await world.record();
    expect([after.identity, after.replacedIdentity]).toEqual([before.identity, null]);
    // What ends before the log is judged changes nothing and keeps nothing; what follows is a verdict.
    if (code.startsWith("event-log")) {
      expect(after).toMatchObject({
        verdict: { result: "fail", by: "renewal", codes: expect.arrayContaining([code]) },
        quarantine: { by: "renewal" },
      });
      expect(world.bundles().length).toBe(kept + 1);
    } else expect([after, world.bundles().length]).toEqual([before, kept]);
  });

  it("the honest request itself renews", async () => {
    const { node } = box();
    const honest = await node.request(await node.begun(), await box().tpm.create("ldevid"));
    expect((await node.evidence(honest)).status).toBe(200);
  });

  it("quote and signature of an earlier session of the same node", async () => {
    const { node } = box();
    const earlier = await node.request(await node.begun());
    const { session } = await node.begun();
    expectRefused(await node.evidence({ ...earlier, session }), 403, "quote-invalid");
  });

  it("another LAK of the same TPM, and a new key that it certified", async () => {
    const { node, tpm } = box();
    const { lak } = node;
    Object.assign(node, { lak: await tpm.create("lak") });
    const request = await node.request(await node.begun(), await tpm.create("ldevid"));
    Object.assign(node, { lak });
    expectRefused(await node.evidence(request), 403, "quote-invalid");
  });

  it("certify-invalid: a new key that nothing certifies", async () => {
    const { node, tpm } = box();
    const request = await node.request(await node.begun(), await tpm.create("ldevid"), { uncertified: true });
    expectRefused(await node.evidence(request), 403, "certify-invalid");
  });

  it("ldevid-attributes: a restricted key as the new LDevID", async () => {
    const { node } = box();
    const request = await node.request(await node.begun(), node.lak);
    expectRefused(await node.evidence(request), 403, "ldevid-attributes");
  });
});
