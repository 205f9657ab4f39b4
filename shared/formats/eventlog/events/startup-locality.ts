import { bytes, oneOf, struct, u8 } from "../../codec.ts";
import { FormatError } from "../../error.ts";

const SIGNATURE = new TextEncoder().encode("StartupLocality\0");

/** TCG_EfiStartupLocalityEvent. @see TCG PC Client Platform Firmware Profile, 10.4.5.3 */
export const STARTUP_LOCALITY = struct({ signature: bytes(16), startupLocality: oneOf(u8, [0, 3, 4]) });

/** Whether an EV_NO_ACTION's data says that it is a StartupLocality event. */
export function isStartupLocality(data: Uint8Array): boolean {
  return SIGNATURE.every((octet, i) => data[i] === octet);
}

/**
 * The data of a StartupLocality event.
 * @throws FormatError
 */
export function startupLocality(locality: number): { signature: Uint8Array; startupLocality: 0 | 3 | 4 } {
  if (locality !== 0 && locality !== 3 && locality !== 4) {
    throw new FormatError("unknown-value", "StartupLocality", 0, `${locality}`);
  }
  return { signature: SIGNATURE, startupLocality: locality };
}
