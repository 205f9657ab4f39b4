import type { DevicePatch } from "../device.ts";
import { isoTime, isSameMoment } from "../moment.ts";
import type { DeviceRecord } from "../record.ts";
import type { Draft } from "./draft.ts";

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, v: unknown) =>
    typeof v === "object" && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );
}

/** fleetd's own fields as its record wants them shown. */
function wanted(record: DeviceRecord, isoTime: (ms: number) => string) {
  const { run, verdict, identity } = record;
  return {
    attestationVerdict: verdict?.result ?? null,
    attestedAt: verdict === null ? null : isoTime(verdict.atMs),
    dbxHash: verdict?.dbxHash ?? null,
    sbatLevel: verdict?.sbatLevel ?? null,
    // Not before it was enabled: what NetBox names has used up its request, whatever is lost.
    fleetRun:
      run === null || run.phase === "starting"
        ? null
        : {
            run: run.name,
            request: run.request.id,
            requested_at: isoTime(run.request.atMs),
            result: run.result ?? "unfinished",
          },
    fleetIdentity:
      identity === null
        ? null
        : {
            ldevid: { serial: identity.ldevid.serialNumber, spki_sha256: identity.ldevid.spkiSha256 },
            lak: { serial: identity.lak.serialNumber, spki_sha256: identity.lak.spkiSha256 },
          },
  };
}

/**
 * Level-triggered: NetBox's fields are compared with the record each time and written where they differ. A 200 of NetBox
 * may be overwritten by somebody's older row, and a write that changes nothing would wake fleetd by its own webhook.
 * @see spec/30-reconcile.md "What the peers really do"
 */
export function showFields(d: Draft): void {
  const { device, record } = { device: d.o.device, record: d.record };
  const w = wanted(record, isoTime);
  const { shown } = device;
  const patch: { -readonly [K in keyof DevicePatch]: DevicePatch[K] } = {};
  if (w.attestationVerdict !== null && shown.attestationVerdict !== w.attestationVerdict)
    patch.attestationVerdict = w.attestationVerdict;
  if (w.attestedAt !== null && !isSameMoment(shown.attestedAt, w.attestedAt)) patch.attestedAt = w.attestedAt;
  if (shown.dbxHash !== w.dbxHash && w.attestedAt !== null) patch.dbxHash = w.dbxHash;
  if (shown.sbatLevel !== w.sbatLevel && w.attestedAt !== null) patch.sbatLevel = w.sbatLevel;
  if (canonical(shown.fleetRun) !== canonical(w.fleetRun) && w.fleetRun !== null) patch.fleetRun = w.fleetRun;
  if (canonical(shown.fleetIdentity) !== canonical(w.fleetIdentity)) patch.fleetIdentity = w.fleetIdentity;
  if (Object.keys(patch).length > 0) d.patch(patch);
}
