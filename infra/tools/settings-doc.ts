import type { z } from "zod";
import { DEFAULT_DURATIONS } from "../../shared/fleet/limits.ts";
import { durationVariable } from "../../shared/runtime/config.ts";
import { namesSecretFile } from "../../shared/runtime/setting-kinds.ts";
import { settingsSchema } from "../../shared/runtime/settings-table.ts";

const DURATION_WORDS: Readonly<Record<keyof typeof DEFAULT_DURATIONS, string>> = {
  notBegunMs: "deadline of a run of which no action has begun",
  notBegunWithoutBmcMs: "the same without a BMC, where a person netboots the machine",
  begunSlackMs: "what a run that has begun gets on top of its template's timeouts",
  slotOrphanMs: "after so long a slot that no record names is freed",
  retryFirstMs: "first rest before a BMC is asked again at a retirement; it doubles",
  retryLastMs: "longest of those rests",
  offDangerMs: "after so long without the BMC's `off` the journal has a danger line",
  drainMs: "clock of a node's drain",
  tokenAfterApprovalMs: "life of a bootstrap token after its node's first certificate was approved",
  tokenExpiryMs: "life of a bootstrap token at all",
  joinMs: "how long after its configuration was served a node that is not in the cluster is told of",
  configMs: "life of a stored configuration",
  configAfterSuccessMs: "how long after a run's success an unread one is kept alive",
  configKeepMs: "rest between two renewals of an unread one's life",
  configLeaseMs: "lease of a configuration that is being served",
  configServingMs: "longest time for serving one",
  consumedMs: "how long it is known that one was served",
  refetchedMs: "how long the conditions of a repeated or a missing read stay",
  sessionMs: "life of an attestation's session",
  sessionMarkerSlackMs: "what its marker outlives it by",
  fullWalkMs: "age of the last whole reading of NetBox after which a pass reads all of it again",
  walkSlackMs: "how far before that reading's start a pass in between asks for rows that moved",
  inventoryCopyMs: "age of the inventory copy that `begin` reads",
  claimMs: "how long a claim that nobody approved is kept",
  identityMs: "life of a node's certificates",
  visitIdentityMs: "life of those of any other boot that passes",
  identityOverlapMs: "how long the identity before a renewal counts while the new one was not used",
  attestMaxAgeMs: "age of a verdict by which a node is still listed for SPIRE",
  observedMaxAgeMs: "a device observed longer ago is read again before its steps",
  recordKeepMs: "how long a record outlives its device",
  massWindowMs: "window over which mass vanishing and mass quarantine are counted",
  passLockMs: "lease of the lock of a pass",
  renewIntervalMs: "age that an identity has when it is renewed at the earliest",
  webhookMaxAgeMs: "oldest webhook that is taken",
};

const FIELDS: Readonly<Record<string, z.ZodType>> = settingsSchema.shape;

/** infra/docs/settings.md: every setting, from the table that fleetd itself reads by. */
export function settingsDoc(): string {
  const rows = Object.entries(FIELDS).map(([name, field]) => {
    const secret = namesSecretFile(name) ? " *(secret)*" : "";
    return `| \`${name}\` | ${defaultOf(field)} | ${allowed(field)}${escaped(field.description ?? "")}${secret} |`;
  });
  const durations = Object.entries(DEFAULT_DURATIONS).map(
    ([name, ms]) =>
      `| \`${durationVariable(name)}\` | ${ms} (${humanTime(ms)}) | ${DURATION_WORDS[name as keyof typeof DEFAULT_DURATIONS]} |`,
  );
  return [
    "<!-- Written by infra/tools/gen.mjs from shared/runtime/settings-table.ts and shared/fleet/limits.ts: do not edit. -->",
    "# Settings",
    "",
    "`serve` and `reconcile` read the same `FLEET_*` variables, check them whole at their start, and list every fault at once; a name that is",
    "none of these is a fault too. Restart to change one; the files that classes, profiles, pins, roots and Talos secrets are in, and TLS",
    "certificates, are read again when they change. `fleetctl` has its own, `FLEETCTL_*` (`fleetctl claims --help`).",
    "",
    "*(secret)*: a file that fleetd alone should read. One that everybody on the machine, or a group that is none of fleetd's, may use is one",
    "warning line at the start.",
    "",
    "| setting | default | what |",
    "| --- | --- | --- |",
    ...rows,
    "",
    "## Durations",
    "Whole milliseconds; the defaults are the specification's.",
    "",
    "| setting | default | what |",
    "| --- | --- | --- |",
    ...durations,
    "",
    "## Evidence",
    "`FLEET_EVIDENCE_DIR` must exist. Each attestation that reaches its verdict, passed or refused, leaves one file there, `<device>-<time>.json`,",
    "mode 0600. The one of `infra/docs/examples` is 26 KB (the event log is most of it): with that, 1,000 nodes that renew each week leave 1.3 GB",
    "a year. fleetd deletes none; what is old is its owner's to move. When one cannot be written (a full disk), no machine is stopped: an error line says it, and the",
    "metric `fleetd_evidence_lost_total` counts it, for an alert. The verdict itself is in the device's record.",
    "",
  ].join("\n");
}

function defaultOf(field: z.ZodType): string {
  const absent = field.safeParse(undefined);
  if (!absent.success) return "**required**";
  const value: unknown = absent.data;
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return "–";
  return `\`${String(value)}\``;
}

/** The values of a setting that has few. */
function allowed(field: z.ZodType): string {
  let inner: unknown = field;
  while (typeof inner === "object" && inner !== null && "def" in inner) {
    const def = inner.def as { innerType?: unknown; in?: unknown; entries?: Record<string, string> };
    if (def.entries !== undefined)
      return `${Object.keys(def.entries)
        .map((one) => `\`${one}\``)
        .join(", ")}; `;
    inner = def.innerType ?? def.in;
  }
  return "";
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|").replace(/\bFLEET_[A-Z0-9_]+/g, "`$&`");
}

function humanTime(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1000, "s"],
  ];
  const [size, unit] = units.find(([size]) => ms % size === 0 && ms >= size) ?? [1, "ms"];
  return `${ms / size} ${unit}`;
}
