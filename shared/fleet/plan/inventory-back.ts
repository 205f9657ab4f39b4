import type { Draft } from "./draft.ts";
import { isOldRow } from "./renewal.ts";

/**
 * Row 39: the device's row is older than one that a decision was made on. True where that is seen for the first time: the
 * row is read again before anything is decided, since a list may be older than the record beside it. Seen twice, NetBox
 * went back: what was asked up to now may have been taken back since, so that no disk run follows from it.
 * @see spec/35-lifecycle-table.md row 39
 */
export function inventoryWentBack(d: Draft): boolean {
  const { device, nowMs } = d.o;
  const { inventoryBack, lastRequests } = d.record;
  if (isOldRow(device, d.record)) {
    if (inventoryBack?.row !== device.lastUpdated) {
      d.set({ inventoryBack: { row: device.lastUpdated, heldBeforeMs: inventoryBack?.heldBeforeMs ?? null } });
      d.again();
      return true;
    }
    d.set({ inventoryBack: { row: device.lastUpdated, heldBeforeMs: nowMs }, rowSeen: device.lastUpdated });
  }
  const held = d.record.inventoryBack;
  if (held === null) return false;
  if (held.heldBeforeMs === null || (lastRequests.install?.atMs ?? 0) > held.heldBeforeMs)
    d.set({ inventoryBack: null });
  else if (nowMs - held.heldBeforeMs < d.o.settings.durations.massWindowMs)
    d.condition(
      "InventoryWentBack",
      "row-older",
      "NetBox showed an older row than before: fleetd's own fields are written again, and no disk run follows from a request made before that was seen",
      String(held.heldBeforeMs),
    );
  return false;
}
