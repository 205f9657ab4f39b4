import { expect, it } from "vitest";
import { decode } from "../../../shared/formats/codec.ts";
import { TPM2B_PUBLIC } from "../../../shared/formats/tpm2/public.ts";
import { type Box, expectCode } from "./box.ts";
import { Machine, withAttributes } from "./machine.ts";

/** Every refusal of begin that can be made on the wire. */
export function beginRefusals(box: () => Box): void {
  it.each([
    ["serial", { serial: "Default string" }],
    ["serial", { serial: "0000000" }],
    ["serial", { serial: " " }],
    ["serial", { serial: "" }],
    ["uuid", { uuid: "00000000-0000-0000-0000-000000000000" }],
    ["uuid", { uuid: "ffffffff-ffff-ffff-ffff-ffffffffffff" }],
    ["uuid", { uuid: "03000200-0400-0500-0006-000700080009" }],
    ["uuid", { uuid: "4C4C4544-0034-4410-8043-B7C04F335131" }],
    ["eks.0.public", { eks: [{ public: "!" }] }],
    ["eks", { eks: [] }],
    ["ak.public", { ak: { public: "AAAA" } }],
    ["ldevid.public", { ldevid: { public: "" } }],
  ])("a %s that cannot be: 400 with the field", async (field, change) => {
    const answer = await new Machine(box().tpm, box().host.url).begin(change);
    expectCode(answer, 400, "bad-request");
    expect(answer.body.field).toBe(field);
  });

  it("unknown-serial", async () => {
    expectCode(await new Machine(box().tpm, box().host.url).begin(), 409, "unknown-serial");
  });

  it("ambiguous-serial", async () => {
    const { machine } = await box().declared();
    await box().peers.declare({ name: "twin", serial: machine.serial.toLowerCase(), eks: [], beside: true });
    expectCode(await machine.begin(), 409, "ambiguous-serial");
  });

  it("inventory-conflict: another device has the same approved EK", async () => {
    const { machine } = await box().declared();
    await box().peers.declare({ name: "other", serial: "OTHER", eks: [box().ecc], beside: true });
    expectCode(await machine.begin(), 409, "inventory-conflict");
  });

  it.each(["offline", "failed", "inventory"])("not-expected: %s", async (status) => {
    const { machine } = await box().declared({ status });
    expectCode(await machine.begin(), 409, "not-expected");
  });

  it("ek-not-approved: no binding, or another one", async () => {
    const none = await box().declared({ eks: [] });
    expectCode(await none.machine.begin(), 409, "ek-not-approved");
    const another = await box().declared({ eks: [`sha256:${"e".repeat(64)}`] });
    expectCode(await another.machine.begin(), 409, "ek-not-approved");
  });

  it("ek-not-approved: a binding without its source", async () => {
    const { machine, id } = await box().declared();
    await box().peers.edit(id, { custom_fields: { approved_eks: [{ digest: box().rsa, source: "" }] } });
    expectCode(await machine.begin(), 409, "ek-not-approved");
  });

  it("ek-missing: of two approved EKs one is not presented", async () => {
    const { machine } = await box().declared();
    const [first] = machine.beginBody().eks;
    expectCode(await machine.begin({ eks: [first] }), 409, "ek-missing");
  });

  it("uuid-conflict: another UUID than at the first pass, and one that another device passed with", async () => {
    const { machine } = await box().declared({ eks: [box().rsa] });
    expect((await machine.evidence(await machine.begun())).status).toBe(200);
    const other = "4c4c4544-0034-4410-8043-b7c04f335131";
    expectCode(await machine.begin({ uuid: other }), 409, "uuid-conflict");
    const second = new Machine(box().tpm, box().host.url);
    await box().peers.declare({ name: "second", serial: second.serial, eks: [box().ecc], beside: true });
    expectCode(await second.begin({ uuid: machine.uuid }), 409, "uuid-conflict");
  });

  it("no uuid-conflict with a device that is gone", async () => {
    const gone = await box().declared();
    expect((await gone.machine.evidence(await gone.machine.begun())).status).toBe(200);
    const { machine } = await box().declared();
    expect((await machine.begin({ uuid: gone.machine.uuid })).status).toBe(200);
  });

  it("tpm-1.2", async () => {
    const { machine } = await box().declared();
    const answer = await machine.begin({ tpm: { family: "1.2", manufacturer: "X", firmware: "1" } });
    expectCode(answer, 403, "tpm-1.2");
  });

  it.each([
    ["not restricted", { restricted: false }],
    ["not fixed to its TPM", { fixedTPM: false }],
    ["a decrypting one", { decrypt: true }],
    ["made outside", { sensitiveDataOrigin: false }],
  ])("ak-attributes: %s", async (_what, change) => {
    const { machine } = await box().declared();
    const answer = await machine.begin({ ak: { public: withAttributes(machine.ak.area, change) } });
    expectCode(answer, 403, "ak-attributes");
  });

  it.each([
    ["restricted", { restricted: true }],
    ["not fixed to its parent", { fixedParent: false }],
    ["not for signing", { sign: false }],
  ])("ldevid-attributes: %s", async (_what, change) => {
    const { machine } = await box().declared();
    const answer = await machine.begin({ ldevid: { public: withAttributes(machine.ldevid.area, change) } });
    expectCode(answer, 403, "ldevid-attributes");
  });

  it("ek-template: the approved key under another template", async () => {
    const { machine } = await box().declared({ eks: [box().rsa] });
    const [area] = box().tpm.eks();
    const ek = decode(TPM2B_PUBLIC, area ?? new Uint8Array(), "EK");
    const answer = await machine.begin({ eks: [{ public: withAttributes(ek, { restricted: false }) }] });
    expectCode(answer, 403, "ek-template");
  });

  it("unsupported-class", async () => {
    const { machine } = await box().declared({ fleetClass: "old" });
    expectCode(await machine.begin(), 403, "unsupported-class");
  });
}
