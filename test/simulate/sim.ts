import { createHash } from "node:crypto";
import { loadFleet } from "../../shared/engine/records.ts";
import type { Device } from "../../shared/fleet/device.ts";
import type { FleetSettings } from "../../shared/fleet/limits.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { isPortError, PortError } from "../../shared/ports/error.ts";
import type { Backup } from "./backup.ts";
import { type CallFault, isRead, unavailable } from "./faults.ts";
import { CLASSES, declared, settingsOf, TALOS_SECRETS } from "./fleet.ts";
import { board, START_MS } from "./hardware.ts";
import { type Event, Ledger } from "./ledger.ts";
import { type Habit, LIES, type Lie, Machine } from "./machine.ts";
import { SimBootPlane } from "./peers/boot-plane.ts";
import { SimCluster } from "./peers/cluster.ts";
import { SimNetBox } from "./peers/netbox.ts";
import { SimRecords } from "./peers/records.ts";
import { SimStore } from "./peers/store.ts";
import { Random } from "./random.ts";
import { type Call, type Process, Task } from "./task.ts";
import { type Theme, themesOf } from "./themes.ts";

const CALL_MS = 7;

/** Takes an event down and says where it breaks an invariant. */
export type Judge = (sim: Sim, event: Event) => void;

export interface Violation {
  readonly invariant: number;
  readonly text: string;
  /** Seen only when the run had ended and everybody behaved. */
  readonly late: boolean;
}

interface Snapshot {
  readonly step: number;
  readonly atMs: number;
  readonly value: unknown;
}

/** The whole simulated world: peers, machines, processes, time. It does what decisions say and chooses nothing. */
export class Sim {
  readonly seed: number;
  readonly netbox: SimNetBox;
  readonly bootPlane: SimBootPlane;
  readonly cluster: SimCluster;
  readonly records: SimRecords;
  readonly store: SimStore;
  readonly ledger = new Ledger();
  readonly machines: Machine[] = [];
  readonly settings: FleetSettings;
  readonly themes: ReadonlySet<Theme>;
  /** The shards of the fleet, each with passes of its own; one where it is not divided. */
  readonly shards: readonly FleetSettings["shard"][];
  readonly tasks = new Map<number, Task>();
  readonly replicas: Process[] = [];
  /** Port name → when it answers again. */
  readonly down = new Map<string, number>();
  readonly late: Call[] = [];
  readonly backups: Backup[] = [];
  readonly hooks: { readonly deviceId: number; readonly atMs: number }[] = [];
  readonly faults = new Map<string, number>();
  readonly lines: string[] = [];
  /** A session that an impostor was given. */
  stolen: {
    readonly begun: Readonly<Record<string, unknown>>;
    readonly thief: Machine;
    readonly victim: Machine;
  } | null = null;
  spireNodes: string | null = null;
  violation: Violation | null = null;
  ending = false;
  nowMs = START_MS;
  step = 0;
  /** Whose call is being done. */
  acting: Task | null = null;
  /** The write being done was given up by its caller long ago. */
  landing = false;
  readonly #answers = new Map<string, Snapshot[]>();
  readonly #trace = createHash("sha256");

  readonly #judge: Judge;

  private constructor(seed: number, settings: FleetSettings, judge: Judge) {
    this.seed = seed;
    this.#judge = judge;
    this.settings = settings;
    this.themes = themesOf(seed);
    this.shards =
      seed % 5 === 4
        ? [
            { from: 1, to: 2 },
            { from: 3, to: 1_000_000 },
          ]
        : [null];
    const nowMs = () => this.nowMs;
    this.netbox = new SimNetBox({
      nowMs,
      row: (id, row) => this.#rowChanged(id, row),
      patched: (before, patch) => this.emit({ kind: "patched", before, patch, by: this.acting }),
      journaled: (line) => {
        this.ledger.texts.push(line.text);
        this.emit({ kind: "journaled", line, by: this.acting });
      },
    });
    this.bootPlane = new SimBootPlane({
      nowMs,
      created: (workflow) => this.emit({ kind: "created", workflow, by: this.acting }),
      enabled: (workflow) => this.emit({ kind: "enabled", workflow, by: this.acting }),
      removed: (hardware, deviceId) => this.emit({ kind: "removed", hardware, deviceId, by: this.acting }),
    });
    this.cluster = new SimCluster({
      nowMs,
      approved: (csr) => this.emit({ kind: "approved", csr, by: this.acting }),
      tokenMade: (token, secret) => this.emit({ kind: "token", token, secret, by: this.acting }),
      joined: (node, run) => this.emit({ kind: "joined", node, run }),
      deleted: (node) => this.emit({ kind: "node-deleted", node, by: this.acting }),
    });
    this.records = new SimRecords((id, text, before) => {
      this.ledger.texts.push(text);
      if (id === null) return this.ledger.noteEpoch(this.step, text);
      const record = JSON.parse(text) as DeviceRecord;
      const old = before === null ? null : (JSON.parse(before) as DeviceRecord);
      this.emit({ kind: "recorded", before: old, record, by: this.acting });
    });
    this.store = new SimStore(nowMs, (text) => this.ledger.texts.push(text));
    for (const secret of TALOS_SECRETS) this.ledger.secrets.add(secret);
    for (const name of ["server 1", "server 2"]) this.replicas.push({ name, skewMs: 0, alive: true });
  }

  /** A fleet of three to six machines, as the seed has it. */
  static async create(seed: number, judge: Judge): Promise<Sim> {
    const random = new Random(seed ^ 0x5eed);
    const sim = new Sim(seed, settingsOf(random), judge);
    // Most fleets are older than what is declared now; of a new one all requests are held at first.
    if (random.chance(0.85)) await loadFleet({ ...sim, clock: { nowMs: () => sim.nowMs } });
    sim.nowMs += 1000;
    // What many do at once takes many.
    const isLarge = sim.themes.has("vanishing") || sim.themes.has("failing");
    const count = isLarge ? 8 + random.below(2) : 3 + random.below(4);
    for (let n = 0; n < count; n++) {
      const fleetClass = n < 2 ? "worker" : random.pick(["worker", "worker", ...Object.keys(CLASSES)]);
      const habits: readonly Habit[] = ["good", "good", "slow", "refusing", "dead"];
      const bmc = random.chance(0.75) ? random.pick(habits) : null;
      const lies: readonly Lie[] = sim.themes.has("agents") ? LIES : ["honest", "honest", "honest", "honest", ...LIES];
      sim.machines.push(new Machine(n, await board(n), bmc, random.pick(lies)));
      sim.netbox.declare(declared(n, await board(n), fleetClass, bmc !== null));
    }
    return sim;
  }

  fail(invariant: number, text: string): void {
    this.violation ??= { invariant, text, late: this.ending };
  }

  emit(event: Event): void {
    this.#judge(this, event);
  }

  say(line: string): void {
    this.lines.push(line);
    this.#trace.update(`${this.step} ${this.nowMs} ${line}\n`);
  }

  get traceHash(): string {
    return this.#trace.copy().digest("hex");
  }

  count(fault: string): void {
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  /** Lets a call go on, as the fault says; returns a word on how it ended. */
  async go(call: Call, fault: CallFault | undefined): Promise<string> {
    const { task, port } = call;
    task.take(call);
    task.callBeforeStep = task.lastCallStep;
    task.lastCallStep = this.step;
    this.nowMs += CALL_MS;
    const name = `${port}.${call.method}`;
    if (fault !== undefined) {
      this.count(fault);
      task.faulty = true;
      task.faultyPorts.add(port);
    }
    const said = await this.#perform(call, fault, name);
    if (name === "store.lock" && task.faultyPorts.has("store")) task.lockless = true;
    await task.stirred();
    if (task.gone) this.tasks.delete(task.id);
    return said;
  }

  async #perform(call: Call, fault: CallFault | undefined, name: string): Promise<string> {
    const { task, port } = call;
    const isDown = (this.down.get(port) ?? 0) > this.nowMs;
    if (isDown) {
      task.faulty = true;
      task.faultyPorts.add(port);
    }
    if (fault === "before" || isDown) {
      call.reject(unavailable(port, "no answer"));
      return "unavailable";
    }
    if (fault === "conflict") {
      call.reject(new PortError("conflict", port, "somebody was faster"));
      return "conflict";
    }
    if (fault === "late") {
      this.late.push(call);
      call.reject(unavailable(port, "no answer in time"));
      return "given up";
    }
    const key = `${name} ${JSON.stringify(call.args)}`;
    const snapshot = fault === "stale" ? (this.#answers.get(key) ?? [])[0] : undefined;
    if (snapshot !== undefined && this.nowMs - snapshot.atMs < 120_000) {
      task.seenFromStep = Math.min(task.seenFromStep, snapshot.step);
      if (name === "netbox.devices" && task.kind === "pass")
        this.ledger.walked(call.args[0], snapshot.value as readonly Device[], task, this.tasks.size === 1);
      call.resolve(snapshot.value);
      return `stale by ${this.step - snapshot.step} steps`;
    }
    let answer: unknown;
    this.acting = task;
    try {
      answer = await call.work();
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      call.reject(error);
      return error.kind;
    } finally {
      this.acting = null;
    }
    if (isRead(name)) this.#remember(key, answer);
    if (fault === "killed") {
      this.kill(task.process);
      return "done, then its process died";
    }
    if (fault === "after") {
      call.reject(unavailable(port, "no answer in time"));
      return "done, no answer";
    }
    // A list that nobody got was no walk.
    if (name === "netbox.devices" && task.kind === "pass")
      this.ledger.walked(call.args[0], answer as readonly Device[], task, this.tasks.size === 1);
    call.resolve(answer);
    return "";
  }

  /** A write whose caller gave it up long ago is done after all. */
  async land(call: Call): Promise<void> {
    this.acting = call.task;
    this.landing = true;
    try {
      await call.work();
    } catch (error) {
      if (!isPortError(error)) throw error;
    } finally {
      this.acting = null;
      this.landing = false;
    }
  }

  kill(process: Process): void {
    process.alive = false;
    for (const task of this.tasks.values())
      if (task.process === process) {
        this.tasks.delete(task.id);
        task.onKilled();
      }
    const n = this.replicas.indexOf(process);
    if (n >= 0) this.replicas[n] = { name: process.name, skewMs: process.skewMs, alive: true };
  }

  task(id: number, kind: string, process: Process): Task {
    const task = new Task(id, kind, process, this.step, this.nowMs);
    this.tasks.set(id, task);
    return task;
  }

  #rowChanged(id: number, row: Device | null): void {
    const all = this.ledger.rows.get(id) ?? [];
    all.push({ step: this.step, row });
    this.ledger.rows.set(id, all);
    const [entry] = this.netbox.log.get(id) ?? [];
    if (row !== null && entry !== undefined && entry.user !== this.settings.netboxUser && entry.after !== null) {
      const planned = entry.after.status === "planned" && entry.before?.status !== "planned";
      const key = `${id} ${entry.requestId}`;
      if (!this.ledger.requests.has(key)) this.ledger.requests.set(key, { atMs: entry.atMs, planned });
    }
    if (row !== null) this.hooks.push({ deviceId: id, atMs: this.nowMs });
    if (this.hooks.length > 50) this.hooks.shift();
  }

  #remember(key: string, value: unknown): void {
    const list = this.#answers.get(key) ?? [];
    list.push({ step: this.step, atMs: this.nowMs, value });
    if (list.length > 3) list.shift();
    this.#answers.set(key, list);
  }
}
