/** A bug of one line, planted on purpose: the seeds must find it. */
export interface Mutation {
  readonly name: string;
  /** Below the root of the checkout. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The simulation, or the comparison of Redis' scripts with the store in memory. */
  readonly caughtBy: "simulation" | "store";
}

type Line = readonly [name: string, file: string, find: string, replace: string];

const planted = (caughtBy: Mutation["caughtBy"], lines: readonly Line[]): Mutation[] =>
  lines.map(([name, file, find, replace]) => ({ name, file, find, replace, caughtBy }));

const plan = (file: string) => `shared/fleet/plan/${file}.ts`;

const REQUESTS = planted("simulation", [
  [
    "an old request is fresh",
    "shared/fleet/request.ts",
    "if (last !== null && (entry.atMs <= last.atMs || entry.requestId === last.id))",
    "if (last === undefined)",
  ],
  ["the epoch holds nothing", "shared/fleet/request.ts", "if (entry.atMs <= context.epochMs)", "if (entry.atMs < 0)"],
  [
    "fleetd's own writes are requests",
    "shared/fleet/request.ts",
    "(e) => e.user !== context.netboxUser && ",
    "(e) => ",
  ],
  [
    "a used request is not written down",
    plan("orphan"),
    "return { ...last, install: later(last.install) };",
    "return last;",
  ],
  ["protected protects nothing", plan("gates"), "if (device.protected) return", "if (device.id < 0) return"],
  [
    "an unknown class runs",
    plan("gates"),
    `if (kind !== "retire" && freezeClass`,
    `if (kind === "retire" && freezeClass`,
  ],
  ["one slot too many", "shared/fleet/slots.ts", "others.length >= ask.max", "others.length > ask.max"],
  ["older Workflows stay", plan("start"), "w.deviceId === o.device.id && w.name !== run.name", "w.deviceId < 0"],
  [
    "protected takes nothing back",
    plan("one-run"),
    "if (touchesDisk(run.kind) && device.protected) return",
    "if (device.id < 0) return",
  ],
]);

const ENDS = planted("simulation", [
  [
    "SUCCESS with an action missing counts",
    plan("workflow-facts"),
    "if (succeededInOrder(workflow)) return",
    'if (workflow.uid !== "") return',
  ],
  [
    "allowPXE stays on",
    plan("upkeep"),
    "const run = isUnfinished(d.record.run) ?",
    "const run = d.record.run !== null ?",
  ],
  ["a configuration outlives planned", plan("config-upkeep"), `o.device.status !== "planned" || `, ""],
  ["off is not waited for", plan("retire"), "if (state.offAtMs === null) return powerOff(d, state);", ""],
  [
    "an older Job's Tasks count",
    plan("retire"),
    `job.state === "completed" && job.tasksAreOwn`,
    `job.state === "completed"`,
  ],
  [
    "the cluster need not be clean",
    plan("retire"),
    "if (state.clusterCleanAtMs === null || ownNode(d) !== null) return drain",
    "if (o.nowMs < 0) return drain",
  ],
  [
    "erased again",
    plan("retire"),
    "if (state.erasedAtMs === null) return erase(d, state);",
    "if (state.offAtMs === null) return erase(d, state);",
  ],
  ["a line is said each time", "shared/fleet/journal.ts", "if (known.has(mark)) continue;", ""],
]);

const CLUSTER = planted("simulation", [
  [
    "any node's CSR is approved",
    plan("csr-approval"),
    "if (request.commonName !== ",
    'if (request.commonName === "" && request.commonName !== ',
  ],
  [
    "any name beside the node's is approved",
    plan("csr-approval"),
    `if (request.hasSan) return "it asks for subject alternative names";`,
    "",
  ],
  ["quarantine holds no Node", plan("cordon"), `if (record.quarantine !== null) return "quarantine";`, ""],
  [
    "a token lives on",
    plan("csr-approval"),
    "return approved || expired ? token.id : null;",
    "return expired && approved ? token.id : null;",
  ],
]);

const DOORS = planted("simulation", [
  [
    "a claim in the record is none",
    plan("config-access"),
    `if (config === null || config.state !== "unread" || isShut(config, peer)) return null;`,
    "if (config === null) return null;",
  ],
  [
    "another address may read on",
    plan("config-access"),
    "(first !== peer || breaks >= MAX_BREAKS)",
    "breaks >= MAX_BREAKS",
  ],
  [
    "any status is certified",
    "functions/attest/evidence.ts",
    `=> status === "planned" || status === "active";`,
    `=> status !== "";`,
  ],
]);

const RENEWAL = planted("simulation", [
  ["any status is renewed", plan("renewal"), `if (status !== "active")`, `if (status === "")`],
]);

const ENGINE = planted("simulation", [
  ["a line owed is not looked up", "shared/engine/apply/world-steps.ts", "step.lookFirst && ", "step.id < 0 && "],
  ["a failed step is passed over", "shared/engine/apply/index.ts", "return error;", "continue;"],
  [
    "a conflict is overwritten",
    "shared/engine/records.ts",
    "const stored = await records.put({ deviceId, name, uuid, node, open, text: JSON.stringify(record) }, resourceVersion);",
    "const stored = await records.put({ deviceId, name, uuid, node, open, text: JSON.stringify(record) }, (await records.get(deviceId))?.resourceVersion ?? null);",
  ],
  // Gone at the first sight is kept apart twice: by what is noted, and by the record that is read again before the end.
  [
    "an absence is never forgotten",
    plan("plan"),
    "if (o.record.absentSinceMs !== null) d.set(asPresent(o.record));",
    "",
  ],
]);

const MEMORY = planted("store", [
  [
    "memory: two readers at once",
    "shared/adapters/memory/store.ts",
    `if (claim !== null && claim.nonce !== nonce) return { state: "serving" };`,
    "",
  ],
]);

const SCRIPTS = planted("store", [
  [
    "script: two readers at once",
    "shared/adapters/redis/scripts.ts",
    "if claim[1] and claim[2] ~= ARGV[3] then return 'serving' end",
    "",
  ],
  [
    "script: a consumed code again",
    "shared/adapters/redis/scripts.ts",
    "if claim[1] and claim[3] ~= 'serving' then return 'consumed' end",
    "",
  ],
  [
    "script: a lost claim is released",
    "shared/adapters/redis/scripts.ts",
    "if claim[2] ~= ARGV[2] or claim[3] == 'lost' then return 'no' end",
    "if claim[2] ~= ARGV[2] then return 'no' end",
  ],
  [
    "script: a lock for everybody",
    "shared/adapters/redis/scripts.ts",
    "if holder and holder ~= ARGV[2] then return 'no' end",
    "",
  ],
  [
    "script: a claimed configuration is kept",
    "shared/adapters/redis/scripts.ts",
    "if redis.call('EXISTS', KEYS[2]) == 1 then return 'no' end",
    "",
  ],
]);

/** Found late. */
const SELDOM = planted("simulation", [
  [
    "a moved machine is minted for",
    "shared/fleet/same-machine.ts",
    "return sameSerial && approved.length > 0 && ",
    "return sameSerial || ",
  ],
  [
    "active is readable",
    plan("config-access"),
    `if (device.status !== "planned") return { answer: "refuse", code: "not-planned" };`,
    "",
  ],
  ["any disk serial will do", plan("gates"), "device.installDiskSerial === null || ", "device.id < 0 || "],
]);

export const MUTATIONS: readonly Mutation[] = [
  ...REQUESTS,
  ...ENDS,
  ...CLUSTER,
  ...DOORS,
  ...RENEWAL,
  ...ENGINE,
  ...MEMORY,
  ...SCRIPTS,
  ...SELDOM,
];
