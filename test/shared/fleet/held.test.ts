import { describe, expect, it } from "vitest";
import type { AcceptedRequest } from "../../../shared/fleet/accepted-request.ts";
import type { ChangeEntry } from "../../../shared/fleet/device.ts";
import { acceptRequest, withAcceptedRequest } from "../../../shared/fleet/held.ts";
import { type DeviceRecord, newRecord } from "../../../shared/fleet/record.ts";
import { askedAction } from "../../../shared/fleet/request.ts";
import { aDevice } from "../../scenarios/fixtures.ts";

const device = { ...aDevice(), desiredAction: "wipe" };
const context = { changes: [], netboxUser: "fleetd", epochMs: 1000 };
const word = (change: Partial<AcceptedRequest> = {}): DeviceRecord => ({
  ...newRecord(7, "w1"),
  acceptedRequest: {
    ...{ kind: "wipe", request: { id: "e1", atMs: 500 }, row: null, takenUp: false, by: "alice", atMs: 2000 },
    ...change,
  },
});
const entry = (requestId: string, atMs: number): ChangeEntry => {
  const values = { status: "planned", approvedEks: [] };
  const [before, after] = [null, "wipe"].map((desiredAction) => ({ ...values, desiredAction }));
  return { requestId, atMs, user: "owner", action: "update", before: before ?? null, after: after ?? null };
};
const asked = (record: DeviceRecord, changes: ChangeEntry[] | null) =>
  askedAction(device, record, { ...context, changes });

describe("an administrator's word for a held request", () => {
  it("makes the very entry fresh, under its own id, and no other", () => {
    expect(asked(word(), [entry("e1", 500)])).toEqual({
      state: "fresh",
      request: { kind: "wipe", id: "e1", atMs: 500 },
    });
    expect(asked(word(), [entry("e0", 500)]).state).toBe("held");
    expect(asked(word({ kind: "attest" }), [entry("e1", 500)]).state).toBe("held");
    expect(asked(word(), []).state).toBe("held");
    expect(asked(word(), null).state).toBe("unknown");
  });

  it("never makes one fresh that was carried out, whatever the log says", () => {
    const done = { install: { id: "e1", atMs: 500 }, attest: null };
    expect(asked({ ...word(), lastRequests: done }, [entry("e1", 500)])).toMatchObject({ state: "old", id: "e1" });
    const rowWord = word({ row: device.lastUpdated, takenUp: true, request: { id: "m1", atMs: 2000 } });
    const carried = { ...rowWord, lastRequests: { install: { id: "m1", atMs: 2000 }, attest: null } };
    for (const changes of [[], null, [entry("e0", 400)]])
      expect(asked(carried, changes)).toMatchObject({ state: "old", kind: "wipe" });
  });

  it("without an entry counts once a plan has seen the row that was accepted, also while the log cannot be read", () => {
    const rowWord = word({ row: device.lastUpdated, request: { id: "m1", atMs: 2000 } });
    expect(asked(rowWord, []).state).toBe("held");
    const taken = withAcceptedRequest(device, rowWord, () => null, 3000);
    expect(taken.acceptedRequest?.takenUp).toBe(true);
    for (const changes of [[], null, [entry("e0", 400)]])
      expect(asked(taken, changes)).toMatchObject({ state: "fresh", request: { id: "m1" } });
  });

  it("is dropped with what it was for, and where an owner asks anew; not by a clock that differs", () => {
    const at = (atMs: number, id = "e9") =>
      withAcceptedRequest(device, word(), () => entry(id, atMs), 3000).acceptedRequest;
    expect(at(2001)).toBeNull();
    expect(at(2001, "e1")).not.toBeNull();
    expect(at(500)).not.toBeNull();
    for (const other of [{ desiredAction: null }, { desiredAction: "attest" }])
      expect(withAcceptedRequest({ ...device, ...other }, word(), () => null, 3000).acceptedRequest).toBeNull();
    expect(
      withAcceptedRequest({ ...device, status: "active" }, word({ kind: "install" }), () => null, 3000).acceptedRequest,
    ).toBeNull();
  });

  it("is not given while a run of the device is unfinished and nothing is held, nor for a retirement that goes on", () => {
    const ask = { kind: null, by: "alice", atMs: 2000, madeId: "m1" };
    const idle = { ...device, desiredAction: null, status: "active" };
    expect(acceptRequest(idle, newRecord(7, "w1"), context, ask)).toEqual({
      ok: false,
      detail: "w1 has no held request to accept",
    });
    const fresh = { ...context, changes: [entry("e1", 1500)] };
    expect(acceptRequest(device, newRecord(7, "w1"), fresh, ask).ok).toBe(false);
  });
});
