import { z } from "zod";
import { acceptedRequestSchema } from "./accepted-request.ts";
import { classSchema } from "./class.ts";
import { retireSchema } from "./retire-record.ts";
import { conditionSchema, journalSchema } from "./said-record.ts";

const ms = z.number().int().nonnegative();
const stampedRequest = z.strictObject({ id: z.string(), atMs: ms });

export const RUN_KINDS = ["provision", "attest", "wipe", "retire"] as const;
export type RunKind = (typeof RUN_KINDS)[number];

const frozenClass = z.strictObject({
  name: z.string(),
  class: classSchema,
  pin: z
    .discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("installer"), installer: z.string() }),
      z.strictObject({ kind: z.literal("image"), image: z.string(), digest: z.string(), format: z.string() }),
    ])
    .nullable(),
});

const runSchema = z.strictObject({
  kind: z.enum(RUN_KINDS),
  request: stampedRequest,
  attempt: z.number().int().min(1),
  name: z.string(),
  /** The device's name when it started. */
  deviceName: z.string().nullable().default(null),
  phase: z.enum(["starting", "waiting", "running", "ended"]),
  class: frozenClass.nullable(),
  disk: z.strictObject({ device: z.string(), serial: z.string() }).nullable(),
  serial: z.string(),
  uuid: z.string().nullable().default(null),
  eks: z.array(z.string()),
  mac: z.string(),
  bootMode: z.boolean(),
  startedAtMs: ms,
  enabledAtMs: ms.nullable(),
  begunAtMs: ms.nullable(),
  diskBegun: z.boolean(),
  timeoutMs: ms,
  /** The rendered actions were compared with the Template's and are the same. */
  actionsChecked: z.boolean(),
  /** First terminal state that was seen, latched. */
  terminal: z
    .strictObject({
      state: z.enum(["SUCCESS", "FAILED", "TIMEOUT", "DEADLINE", "STOPPED", "WITHDRAWN"]),
      atMs: ms,
      action: z.string().nullable(),
      detail: z.string(),
    })
    .nullable(),
  result: z
    .enum([
      "success",
      "unread",
      "failed",
      "expired",
      "withdrawn",
      "attested",
      "no-verdict",
      "wiped",
      "erased",
      "stopped",
    ])
    .nullable(),
  /** A verdict was recorded while this run went on. */
  verdictAtMs: ms.nullable(),
});
export type Run = z.output<typeof runSchema>;

const configSchema = z.strictObject({
  codeHash: z.string(),
  run: z.string(),
  state: z.enum(["unread", "serving", "served", "lost", "removed"]),
  mintedAtMs: ms,
  nonce: z.string().nullable(),
  peer: z.string().nullable(),
  breaks: z.number().int().nonnegative(),
  servedAtMs: ms.nullable(),
  /** Last request with the consumed code, and last one that found nothing stored. */
  refetchedAtMs: ms.nullable(),
  missingAtMs: ms.nullable(),
  /** HookOS was booted again while it lay unread after SUCCESS. */
  hookosAgainAtMs: ms.nullable(),
  contendedAtMs: ms.nullable(),
  /** When its TTL in the store was last renewed. */
  keptAtMs: ms.nullable().default(null),
});
export type ConfigRecord = z.output<typeof configSchema>;

const tokenSchema = z.strictObject({
  id: z.string(),
  expiresAtMs: ms.nullable(),
  csr: z.strictObject({ name: z.string(), spkiSha256: z.string(), approvedAtMs: ms }).nullable(),
  contended: z.boolean(),
  deletedAtMs: ms.nullable(),
});
export type TokenRecord = z.output<typeof tokenSchema>;

const certificateSchema = z.strictObject({ serialNumber: z.string(), spkiSha256: z.string(), notAfterMs: ms });
const identitySchema = z.strictObject({
  ldevid: certificateSchema,
  lak: certificateSchema,
  /** LDevID subject, as SPIRE selects by its CN. */
  subject: z.string(),
  issuedAtMs: ms,
});
export type IdentityRecord = z.output<typeof identitySchema>;

const countersSchema = z.strictObject({
  /** The LAK whose quote showed them. */
  lakSpkiSha256: z.string(),
  /** Milliseconds as decimal digits: 64 bits. */
  clock: z.string().regex(/^\d{1,20}$/),
  safe: z.boolean(),
  resetCount: z.number().int().nonnegative(),
  restartCount: z.number().int().nonnegative(),
  firmwareVersion: z.string(),
  atMs: ms,
});
export type CountersRecord = z.output<typeof countersSchema>;

const cause = z.enum(["intake", "renewal"]);
const verdictSchema = z.strictObject({
  result: z.enum(["pass", "fail"]),
  by: cause,
  atMs: ms,
  codes: z.array(z.string()),
  /** It failed among so many that it quarantined nobody. */
  heldBack: z.boolean().optional(),
  dbxHash: z.string().nullable(),
  sbatLevel: z.string().nullable(),
  /** SHA-256 over the authorities measured before the separator; absent in older records. */
  earlyAuthorities: z.string().nullable().optional(),
});
export type VerdictRecord = z.output<typeof verdictSchema>;

/** Work outside that is still owed for what the record already says; repeated until it worked. */
const dueSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("drop-config") }),
  z.strictObject({ do: z.literal("delete-token"), id: z.string() }),
  z.strictObject({ do: z.literal("delete-node"), uid: z.string() }),
]);
export type DueWork = z.output<typeof dueSchema>;

const changedValues = z.strictObject({
  status: z.string().nullable(),
  desiredAction: z.string().nullable(),
  approvedEks: z.unknown(),
});
const changeEntry = z.strictObject({
  requestId: z.string(),
  atMs: ms,
  user: z.string(),
  action: z.enum(["create", "update", "delete"]),
  before: changedValues.nullable(),
  after: changedValues.nullable(),
});

/** What fleetd remembers of one device (ConfigMap fleetd-<id>, spec/00 "What fleetd remembers"). */
export const recordSchema = z.strictObject({
  version: z.literal(1),
  deviceId: z.number().int().positive(),
  name: z.string(),
  lastRequests: z.strictObject({ install: stampedRequest.nullable(), attest: stampedRequest.nullable() }),
  run: runSchema.nullable(),
  config: configSchema.nullable(),
  token: tokenSchema.nullable(),
  /** The Node that the coming installation replaces, cordoned under this UID. */
  node: z.strictObject({ name: z.string(), uid: z.string() }).nullable(),
  installed: z
    .strictObject({ class: frozenClass, servedAtMs: ms, run: z.string(), activatedAtMs: ms.nullable() })
    .nullable(),
  identity: identitySchema.nullable(),
  /** Of the configuration that waits to be read: it holds these certificates. `identity` once it was served. */
  pendingIdentity: identitySchema.nullable(),
  /** The identity before, accepted until `identity` was used once: the renewal's answer may have been lost. */
  replacedIdentity: identitySchema.extend({ replacedAtMs: ms }).nullable().default(null),
  /** TPM counters of the last renewal's quote. */
  counters: countersSchema.nullable().default(null),
  verdict: verdictSchema.nullable(),
  quarantine: z
    .strictObject({ by: cause, sinceMs: ms, node: z.string().nullable(), also: cause.optional() })
    .nullable(),
  uuid: z.string().nullable(),
  /** Approved EKs of the first pass and since: a change on a device that has passed waits until it is planned. */
  passedEks: z.array(z.string()).nullable(),
  /** Other EKs than those that an owner, by NetBox's change log, set the device planned with; null once they passed. */
  acceptedEks: z.array(z.string()).nullable().default(null),
  /** Why the machine was last told to wait or refused, until it gets further. */
  attention: z.strictObject({ code: z.string(), text: z.string(), atMs: ms, about: z.string() }).nullable(),
  /** Last attest session whose activations passed: when they did, and when it began. */
  lastSessionAtMs: ms.nullable(),
  lastSessionBegunAtMs: ms.nullable().default(null),
  retire: retireSchema.nullable(),
  /** The last retirement whose disk was erased, taken back since or not: its request erases nothing again. */
  erasedFor: stampedRequest.nullable().default(null),
  /** An administrator's word for a request that was held. */
  acceptedRequest: acceptedRequestSchema.nullable().default(null),
  /** The entries of NetBox's change log that asked for something, as they were read with the row of this `last_updated`. */
  log: z
    .strictObject({ row: z.string(), entries: z.array(changeEntry) })
    .nullable()
    .default(null),
  /** `last_updated` of the newest row that a decision was made on. */
  rowSeen: z.string().nullable(),
  /** The row that was older than `rowSeen`; once it was read twice, requests up to `heldBeforeMs` are held. */
  inventoryBack: z.strictObject({ row: z.string(), heldBeforeMs: ms.nullable() }).nullable().default(null),
  /** Off Jobs of a device that is gone with a run going on; counted before they are made, and never from the start again. */
  goneOff: z
    .strictObject({ jobs: z.number().int().nonnegative(), job: z.string().nullable(), nextTryAtMs: ms.nullable() })
    .nullable()
    .default(null),
  /** When a complete walk of NetBox first came without the device. */
  absentSinceMs: ms.nullable().default(null),
  conditions: z.array(conditionSchema),
  journal: z.array(journalSchema),
  due: z.array(dueSchema),
});
export type DeviceRecord = z.output<typeof recordSchema>;

/** The record of a device that fleetd sees for the first time. */
export function newRecord(deviceId: number, name: string): DeviceRecord {
  return {
    version: 1,
    deviceId,
    name,
    lastRequests: { install: null, attest: null },
    run: null,
    config: null,
    token: null,
    node: null,
    installed: null,
    identity: null,
    pendingIdentity: null,
    replacedIdentity: null,
    counters: null,
    verdict: null,
    quarantine: null,
    uuid: null,
    passedEks: null,
    acceptedEks: null,
    attention: null,
    lastSessionAtMs: null,
    lastSessionBegunAtMs: null,
    retire: null,
    erasedFor: null,
    acceptedRequest: null,
    log: null,
    rowSeen: null,
    inventoryBack: null,
    goneOff: null,
    absentSinceMs: null,
    conditions: [],
    journal: [],
    due: [],
  };
}

/** A configuration that lies in the store under a new code; its token's Secret is made when it is claimed. */
export function unreadConfig(codeHash: string, run: string, mintedAtMs: number): ConfigRecord {
  return {
    codeHash,
    run,
    state: "unread",
    mintedAtMs,
    nonce: null,
    peer: null,
    breaks: 0,
    servedAtMs: null,
    refetchedAtMs: null,
    missingAtMs: null,
    hookosAgainAtMs: null,
    contendedAtMs: null,
    keptAtMs: null,
  };
}

/** True while the run's Workflow may still be served or is being prepared. */
export function isUnfinished(run: Run | null): run is Run & { phase: "starting" | "waiting" | "running" } {
  return run !== null && run.phase !== "ended";
}

export function touchesDisk(kind: RunKind): boolean {
  return kind !== "attest";
}
