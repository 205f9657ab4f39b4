import { type DeviceRecord, isUnfinished, type RunKind } from "../record.ts";
import { type Asked, askedAction, askedInstall, type Request, type RequestContext } from "../request.ts";
import type { RetireRecord } from "../retire-record.ts";
import type { Draft } from "./draft.ts";
import { failingGate } from "./gates.ts";
import { tryStart } from "./start.ts";

const RUN_OF: Readonly<Record<string, RunKind>> = { provision: "provision", attest: "attest", wipe: "wipe" };

/** What requests of the device are judged by. */
export function contextOf(d: Draft): RequestContext {
  return { changes: d.o.changes, netboxUser: d.o.settings.netboxUser, epochMs: d.o.fleet.epochMs };
}

function saysWhy(d: Draft, asked: Exclude<Asked, { state: "none" | "fresh" | "old" }>): void {
  if (asked.state === "unknown")
    d.condition("RequestsUnreadable", "change-log", `${asked.kind} waits: NetBox's change log cannot be read`);
  else
    d.condition(
      "RequestHeld",
      "request-held",
      `${asked.kind} is held: ${asked.reason}; set it again, or fleetctl accept ${d.o.device.name}, to have it done`,
      asked.kind,
    );
}

/** Row 7 and 8: a request that meets an unfinished run. */
function meetsRun(d: Draft, request: Request): void {
  const run = d.record.run;
  if (run === null) return;
  if (run.kind === request.kind) {
    if (run.request.id === request.id || run.phase === "starting") return;
    const stamped = { id: request.id, atMs: request.atMs };
    const last = d.record.lastRequests;
    d.set({ lastRequests: request.kind === "attest" ? { ...last, attest: stamped } : { ...last, install: stamped } });
    d.say(
      "info",
      "request-same",
      `${request.kind} is running already: the new request is carried out by it`,
      request.id,
    );
    d.again();
    return;
  }
  d.condition("RequestWaits", "other-run", `${request.kind} waits until ${run.kind} has ended`, request.id);
}

/** Row 12: an action that was asked before the retirement is cleared with it; a later one stays its owner's. */
export function clearOvertaken(d: Draft, { request }: RetireRecord): boolean {
  const asked = askedAction(d.o.device, d.record, contextOf(d));
  if (asked.state === "none" || asked.state === "unknown") return false;
  if (asked.state === "fresh" && asked.request.atMs > request.atMs) return false;
  const kind = asked.state === "fresh" ? asked.request.kind : asked.kind;
  d.patch({ desiredAction: null });
  d.say("info", "request-overtaken", `${kind} was asked before the retirement: cleared with it`, request.id);
  return true;
}

/** What `desired_action` asks of a device in status planned, active or offline. Returns true where it claims the device. */
function actionRequest(d: Draft): boolean {
  const { device } = d.o;
  const asked = askedAction(device, d.record, contextOf(d));
  switch (asked.state) {
    case "none":
      return false;
    case "unknown":
    case "held":
      saysWhy(d, asked);
      return true;
    case "old": {
      d.patch({ desiredAction: null });
      const run = d.record.run;
      const last = asked.kind === "attest" ? d.record.lastRequests.attest : d.record.lastRequests.install;
      if (last?.id !== asked.id && run?.request.id !== asked.id)
        d.say(
          "info",
          "request-old",
          `${asked.kind} was cleared: it was answered before, or is not newer than the last request carried out`,
          asked.id,
        );
      return false;
    }
    case "fresh":
      if (device.status === "offline" && d.record.retire !== null && clearOvertaken(d, d.record.retire)) return true;
      if (device.status === "offline") {
        d.condition(
          "StatusForbids",
          "offline",
          `${asked.request.kind} waits: set the device planned first`,
          asked.request.id,
        );
        return true;
      }
      if (isUnfinished(d.record.run)) meetsRun(d, asked.request);
      else tryStart(d, RUN_OF[asked.request.kind] ?? "attest", asked.request, false);
      return true;
  }
}

/** False once the configuration of an ended install is lost or removed: a fresh request may follow, or none is there. */
function canStillBeRead({ config, run }: DeviceRecord): boolean {
  return config !== null && config.run === run?.name && (config.state === "unread" || config.state === "serving");
}

/** Rows 4 to 6: status planned set by an owner is one first install, carried out when its machine was admitted. */
function installRequest(d: Draft): void {
  const { record, o } = d;
  const { run } = record;
  if (run !== null && (run.phase !== "ended" || (run.result === "unread" && canStillBeRead(record)))) return;
  const asked = askedInstall(o.device, record, contextOf(d));
  switch (asked.state) {
    case "none":
      return;
    case "unknown":
    case "held":
      saysWhy(d, asked);
      return;
    case "old":
      d.condition("NoRequest", "no-request", "planned, but no fresh request: nothing is installed by itself");
      return;
    case "fresh": {
      if (o.trigger === "confirm") {
        tryStart(d, "provision", asked.request, true);
        return;
      }
      const gate = failingGate(o, "provision");
      if (gate !== null) d.condition("RequestWaits", gate.code, `install waits: ${gate.text}`, asked.request.id);
      else
        d.condition(
          "WaitsForMachine",
          "no-machine",
          "installs when its machine netboots and attests",
          asked.request.id,
        );
    }
  }
}

/** Requests of owners for a device that is planned, active or offline. */
export function requests(d: Draft): void {
  // The change log was not read for a device whose run was still going on when it was looked at.
  if (isUnfinished(d.o.record.run) && !isUnfinished(d.record.run)) return d.again();
  const claimed = actionRequest(d);
  if (!claimed && d.o.device.status === "planned") installRequest(d);
}
