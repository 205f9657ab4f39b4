import { CONDITIONS } from "../../shared/fleet/condition.ts";
import type { ConditionKind } from "../../shared/fleet/conditions/_kind.ts";

/** infra/docs/conditions.md: every condition, from the list that fleetd itself speaks from. */
export function conditionsDoc(): string {
  const kinds: Readonly<Record<string, ConditionKind>> = CONDITIONS;
  return [
    "<!-- Written by infra/tools/gen.mjs from shared/fleet/conditions: do not edit. -->",
    "# Conditions",
    "",
    "Every reason why a device is not where its owner wants it is a condition. `fleetctl explain DEVICE`, `/devices`, the status page, NetBox's journal and the",
    "metric `fleetd_condition{type,reason}` all speak from this list.",
    "",
    "*Who must act*: the **owner** has the device in NetBox; the **operator** runs fleetd and its peers, and has its files in git; the **machine** and **fleetd** act by",
    "themselves, unless something else is wrong. A journaled condition has one line of the level that is given, once a run or request.",
    "",
    ...Object.entries(kinds).flatMap(([type, kind]) => [
      `## ${type}`,
      `${kind.means} ${kind.level === null ? "Not journaled." : `Journaled as ${kind.level}.`}`,
      "",
      "| reason | what it means | who must act | what clears it |",
      "| --- | --- | --- | --- |",
      ...Object.entries(kind.reasons).map(
        ([code, { means, who, clears }]) => `| \`${code}\` | ${cell(means)} | ${who} | ${cell(clears)} |`,
      ),
      "",
    ]),
  ].join("\n");
}

function cell(text: string): string {
  return text
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replace(/\bFLEET_[A-Z0-9_]+(=[a-z]+)?|\bfleetctl [a-z]+( DEVICE| --[a-z]+)?|\b[a-z]+(_[a-z]+)+\b/g, "`$&`");
}
