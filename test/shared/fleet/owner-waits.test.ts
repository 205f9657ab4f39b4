import { describe, expect, it } from "vitest";
import { adoptionWait, certificateWait, conflictWait, namesakeWait } from "../../../shared/fleet/plan/owner-waits.ts";
import { aDevice } from "../../scenarios/fixtures.ts";

const digest = `sha256:${"ab".repeat(32)}`;
const device = { ...aDevice(), status: "active", approvedEks: [{ digest, source: "scan" }] };
const NODE = {
  commonName: "w1.0123456789abcdef",
  chassisSerial: device.serial,
  approvedCommonName: "w1.0123456789abcdef",
};
const codeOf = (wait: { readonly code: string } | null) => wait?.code ?? null;

describe("a node whose certificates are shown", () => {
  it.each([
    ["as NetBox says", {}, null, null],
    ["its serial in another case", { chassisSerial: device.serial.toLowerCase() }, null, null],
    ["another serial", { chassisSerial: "SN9999" }, null, "identity-changed"],
    ["other EKs", { approvedCommonName: "w1.fedcba9876543210" }, null, "identity-changed"],
    ["pinned", {}, { w1: [digest] }, null],
    ["pinned to others", {}, { w1: ["sha256:else"] }, "ek-not-pinned"],
    ["not pinned where others are", {}, { w2: [digest] }, "ek-not-pinned"],
  ])("%s", (_name, change, pins, code) =>
    expect(codeOf(certificateWait(device, { ...NODE, ...change }, pins))).toBe(code),
  );

  it("waits where its name is another device's now, unless that one is offline or itself", () => {
    const other = (change: object) => [{ id: device.id + 1, name: "w1", status: "planned", ...change }];
    expect(codeOf(namesakeWait(device, "w1", other({})))).toBe("inventory-conflict");
    expect(namesakeWait(device, "w1", other({ status: "offline" }))).toBeNull();
    expect(namesakeWait(device, "w1", other({ id: device.id }))).toBeNull();
    expect(namesakeWait(device, "w1", other({ name: "w2" }))).toBeNull();
  });

  it("waits while it shares something, and says what", () => {
    expect(conflictWait(device, null)).toBeNull();
    expect(conflictWait(device, "has the serial of w2")).toEqual({
      code: "inventory-conflict",
      detail: "w1 has the serial of w2: correct NetBox",
    });
  });
});

describe("an adoption", () => {
  it.each([
    ["active, bound and in the pins", {}, { w1: [digest] }, null],
    ["without pins", {}, null, null],
    ["planned", { status: "planned" }, null, "not-expected"],
    ["without a bound TPM", { approvedEks: null }, null, "ek-not-approved"],
    ["outside of the pins", {}, { w1: [] }, "ek-not-pinned"],
  ])("%s", (_name, change, pins, code) => expect(codeOf(adoptionWait({ ...device, ...change }, pins))).toBe(code));
});
