import type { Device } from "../device.ts";
import { installedAs } from "../installed-name.ts";
import { withJournal } from "../journal.ts";
import type { ConfigRecord, DeviceRecord } from "../record.ts";
import { hasMovedUnder } from "../same-machine.ts";

/** Breaks after which a configuration is not given again (spec/40). */
export const MAX_BREAKS = 3;
const NOTED_MS = 60_000;

export type AccessAnswer =
  | { readonly answer: "serve" }
  | {
      readonly answer: "refuse";
      readonly code: "code-consumed" | "config-missing" | "not-planned" | "config-being-served" | "identity-changed";
    };

/** True where two readers met, or a break left the configuration to another peer or to nobody. */
function isShut({ contendedAtMs, breaks, peer: first }: ConfigRecord, peer: string): boolean {
  return contendedAtMs !== null || (breaks > 0 && (first !== peer || breaks >= MAX_BREAKS));
}

/**
 * Whether a right UUID and code are served now, by what the record says (this one counts, not the store).
 * @see spec/40-config-access.md
 */
export function configAccess(record: DeviceRecord, device: Device, config: ConfigRecord, peer: string): AccessAnswer {
  if (config.state === "served" || config.state === "lost") return { answer: "refuse", code: "code-consumed" };
  if (config.state === "serving") return { answer: "refuse", code: "config-being-served" };
  if (device.status !== "planned") return { answer: "refuse", code: "not-planned" };
  const { run } = record;
  const current = run !== null && run.name === config.run && run.kind === "provision";
  if (config.state === "removed" || !current) return { answer: "refuse", code: "config-missing" };
  if (run.phase === "ended" && run.result !== "unread") return { answer: "refuse", code: "config-missing" };
  if (hasMovedUnder(device, run)) return { answer: "refuse", code: "identity-changed" };
  if (isShut(config, peer)) return { answer: "refuse", code: "config-being-served" };
  return { answer: "serve" };
}

type Change = (record: DeviceRecord) => DeviceRecord | null;

function ofCode(record: DeviceRecord, codeHash: string): ConfigRecord | null {
  return record.config?.codeHash === codeHash ? record.config : null;
}

/** A note of the last minute is fresh enough: a crowd of readers must not fight over the record to write the same. */
function isFresh(atMs: number | null, nowMs: number): boolean {
  return atMs !== null && nowMs - atMs < NOTED_MS;
}

/** unread → serving under a nonce; null where another reader came first, or came and broke off since the record was looked at. */
export function claimed(codeHash: string, nonce: string, peer: string, nowMs: number): Change {
  return (record) => {
    const config = ofCode(record, codeHash);
    if (config === null || config.state !== "unread" || isShut(config, peer)) return null;
    return { ...record, config: { ...config, state: "serving", nonce, peer, servedAtMs: nowMs } };
  };
}

/** serving → unread: the response broke before its last byte was handed over (`broke`), or failed before its first. */
export function released(nonce: string, broke: { readonly bytesSent: number } | null, nowMs: number): Change {
  return (record) => {
    const { config } = record;
    if (config === null || config.state !== "serving" || config.nonce !== nonce) return null;
    const breaks = config.breaks + (broke === null ? 0 : 1);
    const next: DeviceRecord = {
      ...record,
      config: {
        ...config,
        state: "unread",
        nonce: null,
        servedAtMs: null,
        breaks,
        // After a break the peer stays: a later failure before the first byte must not shut it out.
        peer: breaks === 0 ? null : config.peer,
      },
    };
    if (broke === null) return next;
    const text = `the configuration's response broke after ${broke.bytesSent} bytes; the same peer may read again`;
    return withJournal(next, [{ level: "warning", code: `config-broke-${breaks}`, text, about: config.run }], nowMs);
  };
}

/** What `about` says of an attention that a reader of the configuration caused. */
export const READING = "configuration";

/**
 * The record of a device whose node has its configuration: the code is consumed, and the identity in it counts. That the
 * payload goes is owed: who served it may die, or lose the store, before it is deleted.
 */
export function asServed(record: DeviceRecord, config: ConfigRecord, nowMs: number): DeviceRecord {
  const { run } = record;
  const cls = run !== null && run.name === config.run ? run.class : null;
  return {
    ...record,
    config: { ...config, state: "served", servedAtMs: nowMs },
    installed:
      cls === null ? record.installed : { class: cls, servedAtMs: nowMs, run: config.run, activatedAtMs: null },
    identity: record.pendingIdentity ?? record.identity,
    pendingIdentity: null,
    replacedIdentity: record.pendingIdentity === null ? record.replacedIdentity : null,
    quarantine: null,
    node: null,
    attention: record.attention?.about === READING ? null : record.attention,
    due: [...record.due.filter((work) => work.do !== "drop-config"), { do: "drop-config" }],
  };
}

/** serving → served: the last byte was handed over. From here on the code is consumed and the identity counts. */
export function served(nonce: string, nowMs: number): Change {
  return (record) => {
    const { config } = record;
    if (config === null || config.state !== "serving" || config.nonce !== nonce) return null;
    return withJournal(
      asServed(record, config, nowMs),
      [
        {
          level: "success",
          code: "config-served",
          text: "its configuration was served once, to its last byte",
          about: config.run,
        },
      ],
      nowMs,
    );
  };
}

/** A consumed code was used again. */
export function refetched(codeHash: string, nowMs: number): Change {
  return (record) => {
    const config = ofCode(record, codeHash);
    if (config === null || isFresh(config.refetchedAtMs, nowMs)) return null;
    return { ...record, config: { ...config, refetchedAtMs: nowMs } };
  };
}

/** A right code found nothing stored. */
export function missing(codeHash: string, nowMs: number): Change {
  return (record) => {
    const config = ofCode(record, codeHash);
    if (config === null || isFresh(config.missingAtMs, nowMs)) return null;
    return { ...record, config: { ...config, missingAtMs: nowMs } };
  };
}

/** What the record notes of a reader that was refused, or null. */
export function noteOf(
  code: Extract<AccessAnswer, { answer: "refuse" }>["code"],
  codeHash: string,
  nowMs: number,
): Change | null {
  switch (code) {
    case "code-consumed":
      return refetched(codeHash, nowMs);
    case "config-missing":
      return missing(codeHash, nowMs);
    case "config-being-served":
      return contendedBy(codeHash, nowMs);
    default:
      return null;
  }
}

/** Whether a configuration that was just served makes its device active, over planned only (row 14). */
export function turnsActive(device: Pick<Device, "status">, record: DeviceRecord, nonce: string): boolean {
  const { config } = record;
  return device.status === "planned" && config?.nonce === nonce && config.state === "served";
}

/** The name of the node that reads the configuration of this record: the one in the certificates that it holds. */
export function configuredName(device: Pick<Device, "name">, record: Pick<DeviceRecord, "pendingIdentity">): string {
  return installedAs({ identity: record.pendingIdentity })?.name ?? device.name;
}

/** A reader that lost its claim to another one: two at once, or another address after a break. */
export function outrun(codeHash: string, peer: string, nowMs: number): Change {
  return (record) => {
    const config = ofCode(record, codeHash);
    const isTaken = config?.state === "serving" || (config?.state === "unread" && isShut(config, peer));
    return isTaken ? contendedBy(codeHash, nowMs)(record) : null;
  };
}

/** Two readers at once, or another address after a break. */
export function contendedBy(codeHash: string, nowMs: number): Change {
  return (record) => {
    const config = ofCode(record, codeHash);
    if (config === null || config.contendedAtMs !== null) return null;
    return { ...record, config: { ...config, contendedAtMs: nowMs } };
  };
}
