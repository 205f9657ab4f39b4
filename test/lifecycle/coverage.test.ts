import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const test = (path: string) => new URL(`../${path}`, import.meta.url);
const lifecycle = readdirSync(new URL("./", import.meta.url))
  .filter((name) => name.endsWith(".test.ts") && name !== "coverage.test.ts")
  .map((name) => readFileSync(new URL(name, import.meta.url), "utf8"))
  .join("\n");

/** The rows of spec/35-lifecycle-table.md. */
const ROWS = [...Array.from({ length: 42 }, (_, i) => String(i + 1)), ...["9a", "19a", "19b"]];

/** Sentences of spec/30, 35 and 40 by short keys: the file below test/ that holds them, and a part of the test's title. */
const SENTENCES: Readonly<Record<string, readonly (readonly [file: string, title: string])[]>> = {
  "30 pass: steady pass writes nothing": [["shared/engine/pass.test.ts", "comes to rest: the next one writes nothing"]],
  "30 pass: stops at the first failed step, seen again": [
    ["shared/engine/killed.test.ts", "killed at every call in turn"],
  ],
  "30 pass: NetBox down, tokens still end": [["lifecycle/netbox-down.test.ts", "a token past its minute or expiry"]],
  "30 pass: two passes at once": [["shared/engine/pass.test.ts", "is not done twice at once"]],
  "30 conditions: one line each, also across outages": [
    ["shared/engine/pass.test.ts", "NetBox at the journal: the line is owed, and said once"],
    ["break/cluster-attacks.test.ts", "a condition that stays is not said again"],
  ],
  "30 peers: first terminal state latched": [["lifecycle/ends-of-installs.test.ts", "the first terminal state stays"]],
  "30 peers: SUCCESS in order alone": [["lifecycle/ends-of-installs.test.ts", "did not end in order"]],
  "30 peers: rendered actions compared": [["lifecycle/cluster.test.ts", "rendered otherwise than its Template says"]],
  "30 peers: old Workflow deleted before the next": [
    ["lifecycle/requests.test.ts", "row 3: an attest of an active device"],
  ],
  "30 peers: NetBox overwritten after a 200": [["lifecycle/status.test.ts", "row 34: planned over active"]],
  "30 peers: others approve": [["lifecycle/cluster.test.ts", "csr: approved by others"]],
  "30 requests: held after a lost memory": [["lifecycle/orphans.test.ts", "lost: all stores at once"]],
  "30 requests: log unreadable": [["lifecycle/orphans.test.ts", "lost: the change log cannot be read"]],
  "30 requests: old row brought back": [["lifecycle/orphans.test.ts", "lost: a PATCH of the same value"]],
  "30 requests: an old word that its owner replaced": [
    ["lifecycle/brought-back.test.ts", "taken back, then shown again"],
  ],
  "30 requests: accepted by a person": [["shared/fleet/held.test.ts", "makes the very entry fresh"]],
  "30 requests: second copy in fleet_run": [["break/planner-attacks.test.ts", "fleet_run is the second copy"]],
  "30 requests: attest uses up no install": [
    ["lifecycle/meeting-runs.test.ts", "row 13: an attest uses up no install"],
  ],
  "30 requests: second attempt of one never enabled": [
    ["lifecycle/meeting-runs.test.ts", "its next attempt has another name"],
  ],
  "30 gates: control planes": [["lifecycle/cluster.test.ts", "gate: control planes install only"]],
  "30 gates: cluster-wide token": [["lifecycle/cluster.test.ts", "gate: the cluster-wide token"]],
  "30 gates: no renderer": [["lifecycle/cluster.test.ts", "gate: a payload without a renderer"]],
  "30 gates: a class that cannot attest": [["lifecycle/cluster.test.ts", "or cannot attest"]],
  "30 slots: a bulk edit": [["shared/engine/pass.test.ts", "are never more than the maximum"]],
  "30 slots: orphaned after 10 minutes": [["lifecycle/gone.test.ts", "a slot of a device that is in no fleet"]],
  "30 slots: lost with the fleet's memory": [["break/planner-attacks.test.ts", "a slot that was lost"]],
  "30 starting: killed anywhere": [
    ["shared/engine/killed.test.ts", "killed at every call in turn"],
    ["lifecycle/meeting-runs.test.ts", "row 9: killed right after"],
  ],
  "30 starting: netboot by hand without a BMC": [["lifecycle/requests.test.ts", "row 3: without a BMC it waits"]],
  "30 orphan: adopted": [["lifecycle/orphans.test.ts", "orphan: waiting: adopted"]],
  "30 orphan: record late": [["lifecycle/orphans.test.ts", "its record was late"]],
  "30 withdrawn: protected takes a request back": [["lifecycle/meeting-runs.test.ts", "row 10: %s"]],
  "30 reinstall: cordoned, not drained": [["lifecycle/requests.test.ts", "row 2: a provision of an active device"]],
  "30 reinstall: no action begun, the old system may run": [
    ["lifecycle/ends-of-installs.test.ts", "it may have left the machine off"],
  ],
  "30 end: still running after its deadline": [
    ["lifecycle/ends-of-installs.test.ts", "a run ended while RUNNING may still run"],
  ],
  "30 end: HookOS after an install": [["lifecycle/ends-of-installs.test.ts", "row 15: HookOS seen again"]],
  "30 allowPXE": [["lifecycle/cluster.test.ts", "allowPXE: on exactly while a run is unfinished"]],
  "30 gone: never at one short list": [
    ["break/gone.test.ts", "one that comes back in between keeps its run"],
    ["break/gone.test.ts", "six that vanish at once"],
  ],
  "30 gone: record kept 90 days": [["lifecycle/gone.test.ts", "row 41: the record is kept for 90 days"]],
  "30 identity: EKs changed after a pass": [["lifecycle/cluster.test.ts", "gate: approved_eks changed after a pass"]],
  "30 inventory back": [["lifecycle/status.test.ts", "row 39: a request that was taken back since"]],
  "30 retirement: back-off 5 min to 4 h": [
    ["lifecycle/retirement.test.ts", "retries double from 5 minutes to 4 hours"],
  ],
  "30 retirement: one clock across restarts": [
    ["lifecycle/retirement-cluster.test.ts", "one clock of ten minutes, across restarts"],
  ],
  "30 retirement: a full round of evictions": [
    ["lifecycle/retirement-cluster.test.ts", "one full round of evictions first"],
  ],
  "30 cluster: per-node token": [
    ["functions/config/serving.test.ts", "is the same Secret for a reader that comes again"],
  ],
  "30 cluster: expired token is not renewed": [
    ["functions/config/serving.test.ts", "that expired meanwhile is not renewed"],
  ],
  "30 cluster: first CSR": [["lifecycle/cluster.test.ts", "csr: approved, its name and key in the record before"]],
  "30 cluster: strangers' CSRs": [["lifecycle/cluster.test.ts", "csr: hundreds of strangers'"]],
  "30 cluster: second key": [["lifecycle/cluster.test.ts", "csr: a second key"]],
  "30 cluster: a CSR by the cluster-wide token": [["lifecycle/cluster.test.ts", "csr: made with a cluster-wide token"]],
  "30 spire: the list": [["shared/fleet/spire-nodes.test.ts", "lists a proven node"]],
  "30 quarantine: worker": [["lifecycle/quarantine.test.ts", "quarantine: verdict in NetBox, cordon and taint"]],
  "30 quarantine: control plane": [["lifecycle/quarantine.test.ts", "quarantine: a control plane gets the verdict"]],
  "30 quarantine: own cordon only": [["lifecycle/quarantine.test.ts", "a cordon that a person set stays"]],
  "30 quarantine: mass failure": [["lifecycle/quarantine.test.ts", "one of too many failures at once"]],
  "30 quarantine: ends by its own kind": [
    ["functions/attest/quarantine.test.ts", "ends the quarantine of an intake, not one of a renewal"],
  ],
  "30 dbx changed": [["lifecycle/quarantine.test.ts", "dbx or SbatLevel changed"]],
  "40 current provision alone": [["lifecycle/config-access.test.ts", "config: a planned device's current provision"]],
  "40 once, of 1,000 readers": [["functions/config/serve-once.ts", "of 1,000 readers at once exactly one"]],
  "40 the record's claim counts": [["lifecycle/config-access.test.ts", "config: claimed in the record once"]],
  "40 breaks": [["functions/config/serve-once.ts", "a reader that breaks off reads again from the same peer"]],
  "40 contended": [["functions/config/serve-once.ts", "another address after a break"]],
  "40 nothing before the first byte is lost": [
    ["functions/config/serve-once.ts", "a reader that left while its answer was prepared"],
  ],
  "40 lost lease": [["lifecycle/config-access.test.ts", "config: a serving that nobody ended is lost"]],
  "40 consumed: 410, refetched for 2 h": [
    ["lifecycle/config-access.test.ts", "config: refetched: true while requests go on"],
  ],
  "40 missing": [["functions/config/serve-once.ts", "a configuration that the store lost"]],
  "40 peers away: 503": [["functions/config/serve-once.ts", "%s away: 503, nothing consumed"]],
  "40 not planned: 409": [["functions/config/serve-once.ts", "409 not-planned; gone from NetBox: 503"]],
  "40 removed on leaving planned": [["lifecycle/config-access.test.ts", "config: leaving planned: %s"]],
  "40 any other code": [["functions/config/serve-once.ts", "the same answer, nothing touched"]],
  "40 limits": [["functions/config/serve-once.ts", "failures are limited per peer, a right code never"]],
  "40 no secret in a log": [["functions/config/serve-once.ts", "no log line holds code, token or body"]],
  "40 GET only": [["functions/config/serve-once.ts", "%s: 405, nothing touched"]],
  "40 TTL kept until 7 days after SUCCESS": [
    ["shared/engine/pass.test.ts", "is kept in the store for 7 days after SUCCESS"],
  ],
  "40 active is left to the pass": [["functions/config/serve-once.ts", "active is left to the pass"]],
  "40 the payload's name": [["lifecycle/config-access.test.ts", "config: the node is named as its certificates say"]],
};

describe("each row and sentence of the lifecycle has a test", () => {
  it.each(ROWS)("row %s", (row) => {
    expect(lifecycle).toMatch(new RegExp(`\\bit(\\.each\\([\\s\\S]{0,2000}?\\))?\\(\\s*["\`]row ${row}: `));
  });

  it.each(Object.entries(SENTENCES))("%s", (_key, where) => {
    for (const [file, title] of where) {
      expect(existsSync(test(file)), file).toBe(true);
      const titles = readFileSync(test(file), "utf8").match(/["`][^"`\n]{2,}["`]/g) ?? [];
      expect(
        titles.some((one) => one.includes(title)),
        `${file}: ${title}`,
      ).toBe(true);
    }
  });
});
