import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isEarlier, isoTime, isSameMoment, momentMicros } from "../../../shared/fleet/moment.ts";

describe("moments that NetBox writes", () => {
  it("of milliseconds are what the platform's own clock says, for any day", () => {
    const ms = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2199, 11, 31) });
    fc.assert(
      fc.property(ms, (at) => {
        expect(momentMicros(new Date(at).toISOString())).toBe(at * 1000);
        expect(momentMicros(isoTime(at))).toBe(at * 1000);
      }),
    );
  });

  it.each([
    ["2026-11-29T12:00:00.275Z", "2026-11-29T12:00:00.275000Z"],
    ["2026-11-29T12:00:00.000Z", "2026-11-29T12:00:00Z"],
    ["2026-11-29T12:00:00Z", "2026-11-29T12:00:00+00:00"],
    ["2026-11-29T12:00:00.5Z", "2026-11-29 13:30:00.5+01:30"],
    ["2028-02-29T23:30:00Z", "2028-03-01T00:30:00+01:00"],
    ["2026-12-31T23:00:00Z", "2026-12-31T18:00:00-0500"],
  ])("%s is %s", (a, b) => {
    expect([isSameMoment(a, b), isEarlier(a, b), isEarlier(b, a)]).toEqual([true, false, false]);
  });

  it("a whole second comes before its own microseconds, though its text sorts behind", () => {
    expect("2026-11-29T12:00:00Z" > "2026-11-29T12:00:00.000001Z").toBe(true);
    expect(isEarlier("2026-11-29T12:00:00Z", "2026-11-29T12:00:00.000001Z")).toBe(true);
    expect(isEarlier("2026-11-29T12:00:00.000001Z", "2026-11-29T12:00:00Z")).toBe(false);
  });

  it("what is no time is compared as it is written", () => {
    for (const text of ["", "yesterday", "2026-11-29", "2026-11-29T12:00:00", "x2026-11-29T12:00:00Z"])
      expect(momentMicros(text)).toBeNull();
    expect([isSameMoment("a", "a"), isSameMoment("a", "b"), isSameMoment(null, null)]).toEqual([true, false, true]);
    expect([isSameMoment(null, "2026-11-29T12:00:00Z"), isEarlier("a", "b")]).toEqual([false, true]);
  });
});
