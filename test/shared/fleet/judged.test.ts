import { describe, expect, it } from "vitest";
import type { FrozenClass } from "../../../shared/fleet/class.ts";
import { frozenClass, installedClass } from "../../../shared/fleet/judged.ts";
import { newRecord } from "../../../shared/fleet/record.ts";
import { aRun } from "../../functions/config/world.ts";
import { CLASSES } from "../../scenarios/fixtures.ts";
import { Model } from "../../scenarios/model.ts";

const cls = (name: string): FrozenClass => ({ name, class: { ...CLASSES["talos-worker"] }, pin: null }) as FrozenClass;
const installed = { class: cls("installed"), servedAtMs: 1, run: "r", activatedAtMs: 1 };

describe("the class that judges a device's boots", () => {
  const name = (status: string, change: object) =>
    frozenClass({ status }, { ...newRecord(7, "w1"), ...change })?.name ?? null;

  it("is the installed one, whatever NetBox names, until the device is planned", () => {
    expect([name("active", { installed }), name("decommissioning", { installed })]).toEqual(["installed", "installed"]);
    expect([name("planned", { installed }), name("active", {})]).toEqual([null, null]);
    expect(installedClass({ status: "active" }, { installed })?.name).toBe("installed");
  });

  it("is the unfinished run's before it, and a run without a class leaves it", () => {
    const run = (change: object) => ({ installed, run: aRun({ class: cls("run"), ...change }) });
    expect(name("active", run({ phase: "running" }))).toBe("run");
    expect(name("active", run({ phase: "ended", result: "success" }))).toBe("installed");
    expect(name("active", run({ phase: "running", class: null }))).toBe("installed");
  });

  it("an attest run of an active device freezes the installed class, of a planned one what NetBox names", () => {
    for (const status of ["active", "planned"]) {
      const m = new Model({ status, fleetClass: "talos-worker" });
      m.record = { ...m.record, installed, macs: undefined, rowSeen: null } as typeof m.record;
      m.owner({ desiredAction: "attest" } as never, "5d1b8a55-0000-4000-8000-000000000001");
      m.pass();
      expect(m.record.run?.kind).toBe("attest");
      expect(m.record.run?.class?.name).toBe(status === "active" ? "installed" : "talos-worker");
    }
  });
});
