import type { DeviceRecord } from "../../fleet/record.ts";
import type { Step } from "../../fleet/step.ts";
import type { PortError } from "../../ports/error.ts";

/**
 * What a step that the store did not take leaves to be written down, or null where the steps must stop there: a store that
 * is down for long holds back nothing else of its device, since nothing that follows rests on these two.
 */
export function leftOwed(
  step: Step,
  error: PortError,
  before: DeviceRecord,
): ((record: DeviceRecord) => DeviceRecord) | null {
  if (error.kind !== "unavailable") return null;
  switch (step.do) {
    case "drop-config":
      return (r) => (r.due.some((w) => w.do === "drop-config") ? r : { ...r, due: [...r.due, { do: "drop-config" }] });
    case "keep-config":
      return (r) =>
        r.config === null || r.config.codeHash !== before.config?.codeHash
          ? r
          : { ...r, config: { ...r.config, keptAtMs: before.config.keptAtMs } };
    default:
      return null;
  }
}
