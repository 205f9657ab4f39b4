const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Every duration that the specification names, with its value as default; settings may shorten or lengthen them. */
export const DEFAULT_DURATIONS = {
  /** spec/30 "Requests": own deadline of a run of which no action has begun. */
  notBegunMs: HOUR,
  /** The same without a BMC: an owner has to netboot the machine. */
  notBegunWithoutBmcMs: DAY,
  /** Slack over the template's timeouts once a run has begun. */
  begunSlackMs: 15 * MINUTE,
  /** spec/30 "Requests": a slot that no record has named for so long is freed. */
  slotOrphanMs: 10 * MINUTE,
  /** spec/30 "Retirement" 2: first back-off, doubling to the last. */
  retryFirstMs: 5 * MINUTE,
  retryLastMs: 4 * HOUR,
  /** spec/30 "Retirement" 3: the danger line while the BMC has not said off. */
  offDangerMs: 15 * MINUTE,
  /** spec/30 "Retirement" 4: the node's drain clock. */
  drainMs: 10 * MINUTE,
  /** spec/30 "Workload cluster": token life after its CSR's approval, and its expiry. */
  tokenAfterApprovalMs: MINUTE,
  tokenExpiryMs: HOUR,
  /** How long after its configuration was served a node's absence from the cluster is told. */
  joinMs: 15 * MINUTE,
  /** spec/40: a stored configuration, the lease of one being served, and the whole of a serving. */
  configMs: DAY,
  configAfterSuccessMs: 7 * DAY,
  /** spec/40: an unread configuration's TTL is renewed this often at most. */
  configKeepMs: HOUR,
  configLeaseMs: MINUTE,
  configServingMs: 10 * MINUTE,
  consumedMs: 400 * DAY,
  /** spec/40: InstallConfigRefetched and Missing stay true while one request came within this. */
  refetchedMs: 2 * HOUR,
  /** spec/10: a session, and what its marker outlives it by. */
  sessionMs: 10 * MINUTE,
  sessionMarkerSlackMs: MINUTE,
  /** spec/10 "begin": inventory copy and claims of unknown machines. */
  inventoryCopyMs: 30 * SECOND,
  /** spec/30 "Observed": age of the last whole walk of NetBox, and how far before it a pass between asks what moved. */
  fullWalkMs: 10 * MINUTE,
  walkSlackMs: 15 * MINUTE,
  claimMs: 7 * DAY,
  /** spec/10 "evidence": life of certificates for the recorded identity, and for any other passing boot. */
  identityMs: 365 * DAY,
  visitIdentityMs: HOUR,
  /** ADR 0007: how long the identity before a renewal is accepted while the new one was not used. */
  identityOverlapMs: 30 * DAY,
  /** ADR 0007: how long after it was issued an identity is renewed at the earliest. */
  renewIntervalMs: MINUTE,
  /** spec/30 "SPIRE": age of a verdict that still lists. */
  attestMaxAgeMs: 30 * DAY,
  /** spec/30 head: a device observed longer ago is read again before its steps are applied. */
  observedMaxAgeMs: MINUTE,
  /** spec/00: a record outlives its device by this. */
  recordKeepMs: 90 * DAY,
  /** spec/30: mass vanish and mass quarantine are counted over this. */
  massWindowMs: DAY,
  passLockMs: 30 * SECOND,
  webhookMaxAgeMs: 5 * MINUTE,
} as const;

export type Durations = { readonly [K in keyof typeof DEFAULT_DURATIONS]: number };

/** What the planner is told by settings. */
export interface FleetSettings {
  readonly durations: Durations;
  readonly controlPlanes: boolean;
  readonly maxDiskRuns: number;
  readonly trustDomain: string;
  /** CIDR networks in which BMC addresses may lie; empty: no Machine is made. */
  readonly bmcNetworks: readonly string[];
  /** Port of the RPC responders of BMC type `rpc`. */
  readonly rpcPort: number;
  /** Namespace of Tinkerbell's objects. */
  readonly namespace: string;
  /** NetBox ids that this process's passes look after; null: all. */
  readonly shard: { readonly from: number; readonly to: number } | null;
  /** fleetd's own account name in NetBox: its change-log entries are no requests. */
  readonly netboxUser: string;
  /** Image of the actions, by digest or tag, put into hardwareMap. */
  readonly toolsImage: string;
  /** Base URL of the device listener as machines reach it. */
  readonly deviceUrl: string;
  /** What a missing or foreign LLDP frame means at admission. */
  readonly switchPort: "require" | "report";
  readonly unverifiedBoot: "refuse" | "accept";
}
