import type { Device } from "../../shared/fleet/device.ts";
import { doing } from "../../shared/fleet/doing.ts";
import { fleetConditions } from "../../shared/fleet/fleet-conditions.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import type { DeviceRecord } from "../../shared/fleet/record.ts";
import { shownConditions } from "../../shared/fleet/shown-conditions.ts";

const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

/** A device as people and programs see it: no secret, no hash of a code. */
export function shownDevice(device: Device, record: DeviceRecord) {
  const { run, config, verdict, token, retire, acceptedRequest } = record;
  return {
    id: device.id,
    name: device.name,
    serial: device.serial,
    status: device.status,
    class: device.fleetClass,
    request: device.desiredAction,
    doing: doing(device, record),
    run: run && {
      name: run.name,
      kind: run.kind,
      phase: run.phase,
      result: run.result,
      started: isoTime(run.startedAtMs),
    },
    accepted: acceptedRequest && {
      kind: acceptedRequest.kind,
      request: acceptedRequest.request.id,
      by: acceptedRequest.by,
      at: isoTime(acceptedRequest.atMs),
    },
    config: config && { state: config.state, run: config.run, breaks: config.breaks },
    token: token && { id: token.id, approved: time(token.csr?.approvedAtMs ?? null), deleted: time(token.deletedAtMs) },
    verdict: verdict && { result: verdict.result, by: verdict.by, at: isoTime(verdict.atMs), codes: verdict.codes },
    identity: record.identity && {
      ...record.identity,
      issued: isoTime(record.identity.issuedAtMs),
      expires: isoTime(Math.min(record.identity.ldevid.notAfterMs, record.identity.lak.notAfterMs)),
    },
    quarantined: record.quarantine !== null,
    retire: retire && {
      erased: time(retire.erasedAtMs),
      off: time(retire.offAtMs),
      drain_since: time(retire.drainSinceMs),
      cluster_clean: time(retire.clusterCleanAtMs),
      offline: time(retire.offlineAtMs),
      failures: retire.failures,
    },
    conditions: shownConditions(record.conditions),
  };
}

/** A device that NetBox has no more: its record alone tells of it. */
export function shownVanished(record: DeviceRecord) {
  return {
    id: record.deviceId,
    name: record.name,
    since: time(record.absentSinceMs),
    conditions: shownConditions(record.conditions),
  };
}

export function shownFleet(records: readonly DeviceRecord[]) {
  const conditions = fleetConditions(records);
  return shownConditions(conditions).map((shown) => ({
    ...shown,
    devices: conditions.find((c) => c.type === shown.type)?.devices ?? 0,
  }));
}

export function shownTimeline(record: DeviceRecord) {
  return record.journal.map((l) => ({
    at: isoTime(l.dueAtMs),
    level: l.level,
    code: l.code,
    text: l.text,
    sent: l.sent,
  }));
}
