import { type ConfigRecord, isUnfinished, type Run } from "../record.ts";
import { hasMovedUnder } from "../same-machine.ts";
import type { Draft } from "./draft.ts";
import { removeConfig } from "./run-end.ts";

/** When an unread configuration is over: with its run, or so long after the run's SUCCESS. */
function endOf(config: ConfigRecord, run: Run | null, durations: Draft["o"]["settings"]["durations"]): number {
  if (run?.terminal?.state === "SUCCESS") return run.terminal.atMs + durations.configAfterSuccessMs;
  return isUnfinished(run) ? Number.POSITIVE_INFINITY : config.mintedAtMs + durations.configMs;
}

/** Renews the TTL of an unread configuration, at most so often that a steady pass writes nothing. */
function keep(d: Draft, config: ConfigRecord, endMs: number): void {
  const { nowMs, device, settings } = d.o;
  const { configMs, configKeepMs } = settings.durations;
  if (nowMs - (config.keptAtMs ?? config.mintedAtMs) < configKeepMs) return;
  d.effect({ do: "keep-config", deviceId: device.id, ttlMs: Math.min(configMs, endMs - nowMs) });
  d.after((r) => (r.config?.codeHash === config.codeHash ? { ...r, config: { ...r.config, keptAtMs: nowMs } } : r));
}

function sayUnread(d: Draft, config: ConfigRecord): void {
  d.condition("ConfigUnread", "unread", "installed; its configuration is not read yet", config.run);
  if (config.hookosAgainAtMs !== null)
    d.condition(
      "NodeBootedHookOSAfterInstall",
      "boot-order",
      "booted HookOS again with its configuration unread: the firmware boots the network before the disk",
      config.run,
    );
}

/**
 * The life of a configuration outside its serving: gone when its device leaves planned, when it was never read in time,
 * or when a crash left its serving without an end; and the alarms that stay true while requests go on.
 * @see spec/40-config-access.md
 */
export function configUpkeep(d: Draft): void {
  const { o } = d;
  const { durations } = o.settings;
  const { config, run } = d.record;
  if (config === null) return;
  const current = run !== null && run.name === config.run ? run : null;
  if (config.state === "unread") {
    const endMs = endOf(config, current, durations);
    if (current?.phase === "ended" && hasMovedUnder(o.device, current))
      d.condition(
        "IdentityChanged",
        "identity-changed",
        "serial or EKs changed under the run: nothing is served",
        config.run,
      );
    const over = current?.phase === "ended" && current.result !== "unread" && current.result !== "success";
    if (o.device.status !== "planned" || current === null || over || o.nowMs >= endMs) {
      removeConfig(d);
      if (o.nowMs >= endMs && current !== null) d.set({ run: { ...current, result: "expired" } });
      d.say("warning", "config-removed", "the unread configuration and its token are removed", config.run);
    } else {
      keep(d, config, endMs);
      if (current.result === "unread") sayUnread(d, config);
    }
  }
  // The server cuts a serving at its limit and then says how it ended: it has a lease's time for that.
  const givenUpMs = (config.servedAtMs ?? config.mintedAtMs) + durations.configServingMs + durations.configLeaseMs;
  if (config.state === "serving" && o.nowMs > givenUpMs) {
    d.set({ config: { ...config, state: "lost" } });
    d.owe({ do: "drop-config" });
    d.say("danger", "config-lost", "a serving ended with nobody to say how: its code counts as consumed", config.run);
  }
  if (config.contendedAtMs !== null)
    d.condition(
      "InstallConfigContended",
      "two-readers",
      "two readers used one install code; a new provision ends it",
      config.run,
    );
  if (config.refetchedAtMs !== null && o.nowMs - config.refetchedAtMs < durations.refetchedMs)
    d.condition(
      "InstallConfigRefetched",
      "code-consumed",
      "its consumed install code is used again; request provision",
      config.run,
    );
  if (config.missingAtMs !== null && o.nowMs - config.missingAtMs < durations.refetchedMs)
    d.condition(
      "InstallConfigMissing",
      "config-missing",
      "it asks for a configuration that is lost; request provision",
      config.run,
    );
}
