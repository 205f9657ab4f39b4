import { setTimeout as sleep } from "node:timers/promises";
import type { Stage } from "./stage.ts";

const WINDOW_MS = 600;
const EDIT_EVERY_MS = 250;
/** A pass among real peers lasts seconds, and one whose device changes meanwhile begins again. */
const REAL_EDIT_EVERY_MS = 4_000;

/**
 * While `work` goes on, an owner edits the device's comments again and again, each time under If-Match, in a NetBox whose
 * unconditional PATCHes hold the old row for a while as the real one's do. Every edit that NetBox took must still be
 * there: it is lost only where somebody writes without If-Match.
 */
export async function whileOwnerEdits(s: Stage, name: string, work: () => Promise<void>): Promise<void> {
  const path = `/api/dcim/devices/${s.owner.id(name)}/`;
  await s.owner.holdOldRows(WINDOW_MS);
  let ended = false;
  let lost = 0;
  let taken = 0;
  const edits = (async () => {
    let last = "";
    while (!ended) {
      const row = await s.owner.device(name);
      if (last !== "" && row.comments !== last) lost++;
      const text = `rack note ${taken + 1}`;
      const etag = `W/"${String(row.last_updated).replace("Z", "+00:00")}"`;
      if (await s.owner.patchIfMatch(path, { comments: text }, etag)) {
        last = text;
        taken++;
      } else last = "";
      await sleep(s.lab.peers.obeys ? EDIT_EVERY_MS : REAL_EDIT_EVERY_MS);
    }
  })();
  s.act(name, "edits", `meanwhile the owner edits ${name}'s comments, again and again`);
  try {
    await work();
  } finally {
    ended = true;
    await edits;
    await s.owner.holdOldRows(0);
  }
  s.check(
    name,
    "edits-kept",
    `none of the owner's ${taken} edits was lost to fleetd's writes`,
    lost === 0 && taken > 2,
  );
}
