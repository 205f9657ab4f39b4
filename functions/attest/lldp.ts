import type { LldpSeen } from "../../shared/fleet/plan/wiring.ts";
import { FormatError } from "../../shared/formats/error.ts";
import { readLldpFrame } from "../../shared/formats/lldp/frame.ts";

const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/** What the frame says of the far end; null where there is none or it cannot be read. */
export function lldpSeen(frame: Uint8Array | null): LldpSeen | null {
  if (frame === null) return null;
  try {
    const { chassisId, portId, systemName } = readLldpFrame(frame);
    const mac = (text: string) => (MAC.test(text) ? text : null);
    return { chassisMac: mac(chassisId.text), systemName, portName: portId.text, portMac: mac(portId.text) };
  } catch (error) {
    if (error instanceof FormatError) return null;
    throw error;
  }
}
