import type { Teller } from "./teller.ts";

interface FleetdLine {
  readonly time: string;
  readonly event?: "step" | "step-failed" | "condition" | "journal" | "pass" | "peer-down";
  readonly device?: string;
  readonly code?: string;
  readonly msg?: string;
}

/** Tells what fleetd's own log says of steps and conditions; its journal lines are read where owners read them, in NetBox. */
export function tellFleetdLine(teller: Teller, line: string): void {
  let json: FleetdLine;
  try {
    json = JSON.parse(line) as FleetdLine;
  } catch {
    return;
  }
  const { event, device = "", code = "", msg = "", time } = json;
  if (event === "condition") {
    const [type = code, reason = ""] = code.split("/");
    teller.tell({ at: time, device, source: "condition", kind: type, code: reason, text: msg });
  } else if (event === "step" || event === "step-failed" || event === "peer-down")
    teller.tell({ at: time, device, source: "event", kind: event === "step" ? code : event, code, text: msg });
}
