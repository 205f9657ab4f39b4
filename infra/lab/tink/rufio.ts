import { ClientError, type LabClient } from "../kubernetes/client.ts";
import { at, type KubernetesObject, listAt, objectOf, textAt } from "../kubernetes/json.ts";
import { secondsNow } from "../kubernetes/object-store.ts";
import { callBmc, connectionOf } from "./bmc-client.ts";
import type { Paths } from "./paths.ts";
import { reconcileTask, type TaskSettings } from "./rufio-tasks.ts";
import { changeStatus, conditionOf, withCondition } from "./status-writer.ts";

export interface RufioSettings extends TaskSettings {
  /** How often an unchanged Machine's power state is read: 30 minutes in the real one. */
  readonly powerCheckIntervalMs: number;
}

/**
 * Rufio: Jobs become Tasks, Tasks become BMC calls, Machines are polled.
 * @see facts/kubernetes-tinkerbell.md 2, "Rufio"
 */
export class LabRufio {
  readonly #client: LabClient;
  readonly #paths: Paths;
  readonly #settings: RufioSettings;
  readonly #looked = new Map<string, { readonly version: string; readonly atMs: number }>();

  constructor(client: LabClient, paths: Paths, settings: RufioSettings) {
    this.#client = client;
    this.#paths = paths;
    this.#settings = settings;
  }

  /** One pass over Jobs and Tasks. */
  async reconcileJobs(): Promise<void> {
    const jobs = await this.#client.list(this.#paths.jobs);
    for (const job of jobs) await this.#job(job);
    const tasks = await this.#client.list(this.#paths.tasks);
    await Promise.all(tasks.map((task) => reconcileTask(this.#client, this.#paths, this.#settings, task)));
  }

  /** One pass over Machines, one after another: a BMC that is slow delays the others' power states. */
  async reconcileMachines(): Promise<void> {
    for (const machine of await this.#client.list(this.#paths.machines)) await this.#machine(machine);
  }

  async #job(job: KubernetesObject): Promise<void> {
    if (conditionOf(job, "Completed") !== "" || conditionOf(job, "Failed") !== "") return;
    const { name } = job.metadata;
    const machine = await this.#client.get(`${this.#paths.machines}/${textAt(job, "spec", "machineRef", "name")}`);
    // A Job for an unknown Machine gets no status at all, for ever.
    if (machine === null) return;
    const path = `${this.#paths.jobs}/${name}`;
    if (conditionOf(job, "Running") === "") {
      await changeStatus(this.#client, path, (status) => ({
        ...status,
        startTime: secondsNow(),
        conditions: withCondition(status, { type: "Running", status: "True" }),
      }));
    }
    // By the owner's name, not its UID: Tasks that an older Job of the same name left count as this one's.
    const tasks = (await this.#client.list(this.#paths.tasks)).filter((task) =>
      listAt(task, "metadata", "ownerReferences").some((owner) => textAt(owner, "name") === name),
    );
    const failed = tasks.find((task) => conditionOf(task, "Failed") === "True");
    const wanted = listAt(job, "spec", "tasks");
    if (failed !== undefined) {
      const message = `task ${failed.metadata.namespace}/${failed.metadata.name} failed`;
      await this.#endJob(path, "Failed", { message });
    } else if (tasks.every((task) => conditionOf(task, "Completed") === "True")) {
      if (tasks.length >= wanted.length) await this.#endJob(path, "Completed", {});
      else await this.#createTask(job, machine, tasks.length, wanted[tasks.length]);
    }
  }

  async #endJob(path: string, type: "Completed" | "Failed", more: Record<string, unknown>): Promise<void> {
    await changeStatus(this.#client, path, (status) => ({
      ...status,
      conditions: withCondition(status, { type, status: "True", ...more }),
      ...(type === "Completed" && { completionTime: secondsNow() }),
    }));
  }

  async #createTask(job: KubernetesObject, machine: KubernetesObject, index: number, task: unknown): Promise<void> {
    const { apiVersion, kind } = job;
    const { name, uid, namespace } = job.metadata;
    const owner = { apiVersion, kind, name, uid, controller: true };
    const metadata = {
      name: `${name}-task-${index}`,
      namespace,
      labels: { "owner-name": name },
      ownerReferences: [owner],
    };
    const spec = { connection: at(machine, "spec", "connection"), task };
    try {
      await this.#client.call("POST", this.#paths.tasks, { apiVersion, kind: "Task", metadata, spec });
    } catch (error) {
      if (!(error instanceof ClientError) || error.status >= 500) throw error;
      await this.#endJob(`${this.#paths.jobs}/${name}`, "Failed", { message: error.message });
    }
  }

  async #machine(machine: KubernetesObject): Promise<void> {
    const { name, uid } = machine.metadata;
    const version = JSON.stringify([uid, machine.spec, machine.metadata.annotations]);
    const looked = this.#looked.get(name);
    const due = looked === undefined || Date.now() - looked.atMs >= this.#settings.powerCheckIntervalMs;
    if (!due && looked.version === version) return;
    this.#looked.set(name, { version, atMs: Date.now() });
    const connection = objectOf(at(machine, "spec", "connection"));
    const secret = `${this.#paths.secrets}/${textAt(connection, "authSecretRef", "name")}`;
    // Without its Secret the old value stays for ever.
    if ((await this.#client.get(secret)) === null) return;
    const bmc = await connectionOf(this.#client, this.#paths, this.#settings.bmcUrl, connection);
    const seen = await callBmc(bmc, "getPowerState", {}).catch((error: Error) => error);
    const powerState = seen === "on" || seen === "off" ? seen : "unknown";
    const contactable = seen instanceof Error ? "False" : "True";
    await changeStatus(this.#client, `${this.#paths.machines}/${name}`, (status, object) => {
      const flips = conditionOf(object, "Contactable") !== contactable;
      if (!flips && status.powerState === powerState) return null;
      const condition = {
        type: "Contactable",
        status: contactable,
        ...(seen instanceof Error && { message: seen.message }),
      };
      const conditions = flips ? withCondition(status, condition, "lastUpdateTime") : status.conditions;
      return { ...status, powerState, conditions };
    });
  }
}
