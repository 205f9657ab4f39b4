import { randomBytes } from "node:crypto";
import type { EntropyPort } from "../../ports/system.ts";

/** The kernel's random numbers by OpenSSL. */
export const systemEntropy: EntropyPort = { bytes: (count) => new Uint8Array(randomBytes(count)) };
