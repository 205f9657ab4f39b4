import type { Draft } from "./draft.ts";

/**
 * Bootstrap tokens of the device that its record does not name as live: their record was lost or went back, or their
 * Secret was made too late. Nobody else would end them before their expiry, and a retirement would leave them behind.
 * @see spec/30-reconcile.md "Workload cluster"
 */
export function endStrayTokens(d: Draft): void {
  const { token, due } = d.record;
  const live = token === null || token.deletedAtMs !== null ? null : token.id;
  for (const { id } of d.o.cluster?.tokens ?? []) {
    if (id === live || due.some((work) => work.do === "delete-token" && work.id === id)) continue;
    // Owed, so that the record is written first: one that names the token by now is not overtaken.
    d.owe({ do: "delete-token", id });
    d.say("warning", "token-stray", `bootstrap token ${id} is live, and the record does not say so: deleted`, id);
  }
}
