import type { FleetView } from "../../shared/engine/fleet-view.ts";
import { wordsOf } from "../../shared/fleet/condition.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { fleetConditions } from "../../shared/fleet/fleet-conditions.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";

/** Text that a machine or a person sent, made harmless for HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (ch) => `&#${ch.charCodeAt(0)};`);
}

/** Who must act, and what clears it. */
function acts(type: string, reason: string): string {
  const words = wordsOf(type, reason);
  return words === null ? "" : `(${words.who}: ${words.clears})`;
}

function row({ device, record }: { device: Device; record: DeviceRecord }): string {
  const run = record.run === null ? "–" : `${record.run.kind}: ${record.run.result ?? record.run.phase}`;
  const waits = record.conditions
    .map(
      (c) =>
        `<li><b>${escapeHtml(c.type)}</b> ${escapeHtml(c.message)} <i>${escapeHtml(acts(c.type, c.reason))}</i></li>`,
    )
    .join("");
  const cells = [
    device.name,
    device.serial,
    device.status,
    device.fleetClass ?? "–",
    record.verdict?.result ?? "–",
    run,
  ];
  return `<tr>${cells.map((t) => `<td>${escapeHtml(t)}</td>`).join("")}<td><ul>${waits}</ul></td></tr>`;
}

/** What waits for an administrator's word, above the table. */
function fleetNotes({ fleet, vanished }: FleetView): string {
  const notes = fleetConditions([...fleet.map((f) => f.record), ...vanished]);
  const items = notes.map(
    (c) =>
      `<li><b>${escapeHtml(c.type)}</b> ${escapeHtml(c.message)} <i>${escapeHtml(acts(c.type, c.reason))}</i></li>`,
  );
  return items.length === 0 ? "" : `<ul>${items.join("")}</ul>`;
}

/** The status page: the fleet as one table, no script. */
export function statusPage(view: FleetView, at: string): string {
  const { fleet } = view;
  const heads = ["Device", "Serial", "Status", "Class", "Verdict", "Last run", "What it waits for"];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="5">
<title>fleetd</title><style>
body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#1b1f23;background:#fff}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .8rem;border-bottom:1px solid #d8dee4;vertical-align:top}
th{background:#f6f8fa}td:nth-child(-n+6){white-space:nowrap}ul{margin:0;padding-left:1.1rem}caption{text-align:left;padding-bottom:.6rem;color:#57606a}
</style></head><body><h1>fleetd</h1>${fleetNotes(view)}<table><caption>${fleet.length} devices, as of ${escapeHtml(at)}</caption>
<thead><tr>${heads.map((h) => `<th scope="col">${h}</th>`).join("")}</tr></thead>
<tbody>${[...fleet]
    .sort((a, b) => (a.device.name < b.device.name ? -1 : 1))
    .map(row)
    .join("")}</tbody></table></body></html>
`;
}
