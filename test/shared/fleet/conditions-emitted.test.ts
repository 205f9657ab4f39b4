import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CONDITIONS } from "../../../shared/fleet/condition.ts";
import { withAbsence, withVanishHeldBack } from "../../../shared/fleet/plan/absences.ts";
import { rehearse } from "../../../shared/fleet/plan/rehearse.ts";
import { Model } from "../../scenarios/model.ts";
import { WORLDS, type World } from "./condition-worlds.ts";
import { NOW, REQUEST, verdict } from "./parts.ts";

/** The conditions that the record has once the plan is carried out as far as it can be told. */
function emitted({ device = {}, record = {}, asks, seen = {} }: World): string[] {
  const m = new Model(device);
  m.record = { ...m.record, ...record };
  if (asks === undefined) m.minutes(1);
  else m.owner(asks, REQUEST);
  return rehearse({ ...m.observed(), ...seen }).record.conditions.map((c) => `${c.type}/${c.reason}`);
}

describe("every condition of the list is one that fleetd emits", () => {
  it.each(Object.entries(WORLDS))("%s", (pair, world) => {
    expect(emitted(world)).toContain(pair);
  });

  it("of devices that NetBox has no more: in their records", () => {
    const away = withAbsence(new Model().record, NOW);
    expect(away.conditions.map((c) => `${c.type}/${c.reason}`)).toEqual(["Vanished/absent"]);
    expect(withVanishHeldBack(away, NOW).conditions.map((c) => `${c.type}/${c.reason}`)).toEqual([
      "MassVanish/many-at-once",
    ]);
  });

  it("a machine's and a verdict's codes: as the record holds them, also those of an older fleetd", () => {
    const attention = { code: "of-old", text: "t", atMs: 1, about: "confirm" };
    expect(emitted({ record: { attention } })).toContain("MachineWaits/of-old");
    expect(emitted({ record: { verdict: verdict({ codes: ["of-old"] }) } })).toContain("AttestationFailed/of-old");
  });

  const root = join(import.meta.dirname, "../../..");
  const sources = ["functions/attest", "functions/renew", "shared/attest", "shared/fleet", "shared/fleet/plan"]
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((path) => path.endsWith(".ts") && !path.endsWith("/verdict.ts"))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
  it.each(Object.keys(CONDITIONS.MachineWaits.reasons))("MachineWaits/%s is said somewhere", (code) => {
    expect(sources).toContain(`"${code}"`);
  });
});
