import { randomUUID } from "node:crypto";
import type { Lab } from "./api.ts";
import { record } from "./events.ts";
import { models } from "./models.ts";
import type { Answer } from "./read.ts";
import { dump, restore } from "./world.ts";
import { update } from "./write.ts";

/**
 * The lab's own switches, none of them NetBox's: `POST /lab/faults`, `/lab/save-old-row/<id>` {back?, lastUpdated?, body?,
 * user?} (another client's request in flight saves the row that it read then), `/lab/snapshot`, `/lab/restore`.
 */
export function labDoor(lab: Lab, path: string, body: unknown): Answer {
  const order = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const oldRow = /^\/lab\/save-old-row\/(\d+)$/.exec(path);
  if (oldRow !== null) return saveOldRow(lab, Number(oldRow[1]), order);
  switch (path) {
    case "/lab/faults":
      return lab.faults.set(body) ? { status: 200, body } : { status: 400, body: { detail: "no such mode" } };
    case "/lab/snapshot":
      return { status: 200, body: JSON.parse(dump(lab.world)) };
    case "/lab/restore":
      restore(lab.world, JSON.stringify(body));
      return { status: 200, body: {} };
    default:
      return { status: 404, body: { detail: "no such switch" } };
  }
}

function saveOldRow(lab: Lab, id: number, order: Readonly<Record<string, unknown>>): Answer {
  const versions = lab.world.history.get(id) ?? [];
  const old =
    typeof order.lastUpdated === "string"
      ? versions.find((row) => row.last_updated === order.lastUpdated)
      : versions.at(-1 - Number(order.back ?? 1));
  const model = models.devices;
  if (old === undefined || model === undefined || !lab.world.tables.devices.has(id)) {
    return { status: 404, body: { detail: "no such version" } };
  }
  const body = typeof order.body === "object" && order.body !== null ? (order.body as Record<string, unknown>) : {};
  const written = update(lab.world, model, old, body);
  if ("faults" in written) return { status: 400, body: written.faults };
  const user = typeof order.user === "string" ? order.user : "another-client";
  const cause = { requestId: randomUUID(), user, method: "PATCH", path: `/api/dcim/devices/${id}/` };
  record(lab.world, lab.hooks, model, "update", cause, written.before, written.after);
  return { status: 200, body: { id, last_updated: written.after.last_updated } };
}
