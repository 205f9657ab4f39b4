import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Lab, startLab } from "../../../infra/lab/world/lab.ts";
import { run } from "./cli.ts";

const state = mkdtempSync(join(tmpdir(), "fleetctl-doctor-policy-"));
const CLASSES = "infra/lab/defaults/classes.json";
let lab: Lab;
let env: Record<string, string>;

beforeAll(async () => {
  lab = await startLab({ state, classes: CLASSES, profiles: null, passEveryMs: 0 });
  env = parseEnv(readFileSync(lab.paths.envFile, "utf8")) as Record<string, string>;
}, 120_000);
afterAll(async () => {
  await lab.stop();
  rmSync(state, { recursive: true, force: true });
});

/** The lab's only class with changes, as a file. */
function classes(change: (cls: Record<string, unknown>) => void): Record<string, string> {
  const all = JSON.parse(readFileSync(env.FLEET_CLASSES ?? "", "utf8")) as Record<string, Record<string, unknown>>;
  for (const cls of Object.values(all)) change(cls);
  const file = join(state, "changed-classes.json");
  writeFileSync(file, JSON.stringify(all));
  return { FLEET_CLASSES: file };
}

async function found(change: Record<string, string | undefined>): Promise<{ code: number; lines: string[] }> {
  const { code, out } = await run(["doctor", "--json"], { ...env, ...change } as Record<string, string>);
  const { checks } = JSON.parse(out) as { checks: { name: string; result: string; text: string }[] };
  const lines = checks.filter((one) => one.result !== "ok").map((one) => `${one.result} ${one.name}: ${one.text}`);
  return { code, lines: lines.filter((line) => !line.includes("no public root")) };
}

it.each<[string, () => Record<string, string | undefined>, number, RegExp]>([
  [
    "a PEM file that a profile names and is not there",
    () => {
      const folder = join(state, "profiles-without-pem");
      cpSync("infra/profiles", folder, { recursive: true });
      rmSync(join(folder, "operator.pem"), { force: true });
      return { FLEET_PROFILES: folder };
    },
    1,
    /^failed policy files: .*operator\.pem/,
  ],
  [
    "a class whose profile is not there",
    () => classes((cls) => Object.assign(cls, { profile: "nosuch" })),
    1,
    /^failed policy files: .*FLEET_PROFILES has no profile nosuch/,
  ],
  [
    "a value that no class has",
    () => classes((cls) => Object.assign(cls, { workload: "workr" })),
    1,
    /^failed policy files: .*workload/,
  ],
  [
    "a class without a pin",
    () => classes((cls) => delete cls.installer),
    0,
    /^warning class talos-worker: no complete pin/,
  ],
  [
    "no Talos secrets",
    () => ({ FLEET_TALOS_SECRETS_FILE: undefined }),
    0,
    /^warning class talos-worker: no configuration can be rendered/,
  ],
  [
    "a Template that Tinkerbell does not have",
    () => classes((cls) => Object.assign(cls, { template: "our-provision" })),
    1,
    /^failed templates: Tinkerbell has no our-provision/,
  ],
  [
    "a folder of SPIRE's list that is not there",
    () => ({ FLEET_SPIRE_NODES_FILE: join(state, "nowhere", "spire-nodes.json") }),
    1,
    /^failed spire list: /,
  ],
])("fleetctl doctor finds %s before fleetd does", async (_title, change, code, line) => {
  const told = await found(change());
  expect(told).toMatchObject({ code, lines: [expect.stringMatching(line)] });
});
