import { Counter, Gauge, Registry } from "prom-client";
import type { EngineEvent } from "../engine/world.ts";

interface ConditionLabels {
  readonly type: string;
  readonly reason: string;
}

/** fleetd's metrics; labels are closed lists (codes, step kinds, condition types), never a machine's words. */
export class Metrics {
  readonly registry = new Registry();
  readonly #steps = new Counter({
    name: "fleetd_steps_total",
    help: "Steps of plans that were applied.",
    labelNames: ["step", "outcome"],
    registers: [this.registry],
  });
  readonly #answers = new Counter({
    name: "fleetd_answers_total",
    help: "Answers of the protocol's routes, by route and code.",
    labelNames: ["route", "code"],
    registers: [this.registry],
  });
  readonly #peerFailures = new Counter({
    name: "fleetd_peer_failures_total",
    help: "Calls to an outside system that failed.",
    labelNames: ["peer"],
    registers: [this.registry],
  });
  readonly #evidenceLost = new Counter({
    name: "fleetd_evidence_lost_total",
    help: "Evidence bundles that could not be written to FLEET_EVIDENCE_DIR.",
    registers: [this.registry],
  });
  readonly #conditions = new Gauge({
    name: "fleetd_condition",
    help: "Devices with this condition at the last full look.",
    labelNames: ["type", "reason"],
    registers: [this.registry],
  });
  readonly #fleetConditions = new Gauge({
    name: "fleetd_fleet_condition",
    help: "Devices that make a condition of the whole fleet; those that vanished from NetBox have no other.",
    labelNames: ["type", "reason"],
    registers: [this.registry],
  });
  readonly #devices = new Gauge({
    name: "fleetd_devices",
    help: "Devices by NetBox status at the last full look.",
    labelNames: ["status"],
    registers: [this.registry],
  });
  readonly #lastPass = new Gauge({
    name: "fleetd_last_pass_timestamp_seconds",
    help: "When the last whole pass ended.",
    registers: [this.registry],
  });

  event(event: EngineEvent, nowMs: number): void {
    if (event.kind === "step" || event.kind === "step-failed")
      this.#steps.inc({ step: event.code, outcome: event.kind === "step" ? "ok" : "failed" });
    if (event.kind === "peer-down") this.#peerFailures.inc({ peer: event.code });
    if (event.kind === "evidence-lost") this.#evidenceLost.inc();
    if (event.kind === "pass") this.#lastPass.set(nowMs / 1000);
  }

  answer(route: string, code: string): void {
    this.#answers.inc({ route, code });
  }

  /** Sets the gauges from what all devices' records say. */
  fleet(
    conditions: readonly ConditionLabels[],
    statuses: ReadonlyMap<string, number>,
    whole: readonly (ConditionLabels & { readonly devices: number })[],
  ): void {
    this.#conditions.reset();
    this.#fleetConditions.reset();
    for (const { type, reason, devices } of whole) this.#fleetConditions.set({ type, reason }, devices);
    this.#devices.reset();
    for (const { type, reason } of conditions) this.#conditions.inc({ type, reason });
    for (const [status, count] of statuses) this.#devices.set({ status }, count);
  }
}
