import { type Attack, good, instead, relogged } from "./attack.ts";
import type { Recorded } from "./logs.ts";

const longer =
  (...octets: number[]) =>
  ({ data }: Recorded) => ({ data: Uint8Array.from([...data, ...octets]) });
const logged = (name: string, ...octets: number[]): Attack => ({ logged: relogged(name, longer(...octets)) });
const measured = (name: string, ...octets: number[]): Attack => {
  const found = good.find((one) => relogged(name, () => ({})).includes(one) === false);
  if (!found) throw new Error(name);
  return { boot: instead(name, { ...found, ...longer(...octets)(found) }) };
};

const MISMATCH = "event-log-mismatch";
const PCR7 = "secure-boot-mismatch";
const FOREIGN = "authority-not-accepted";

/** Bytes behind an event's data: old shims log one that they do not measure, and nothing else may. */
export const STRAY_BYTES: Readonly<Record<string, readonly [Attack, string]>> = {
  "an old shim's byte behind its authority: it is in no digest": [logged("authority db", 0), "accepted"],
  "any octet there": [logged("authority db", 0xa5), "accepted"],
  "two bytes": [logged("authority db", 0, 0), `${MISMATCH} ${FOREIGN}`],
  "a byte behind a variable": [logged("dbx", 0), `${MISMATCH} ${PCR7}`],
  "a byte behind the separator": [logged("separator", 0), `${MISMATCH} ${PCR7} ${FOREIGN}`],
  "a byte behind the authority, measured too": [measured("authority db", 0), `${PCR7} ${FOREIGN}`],
  "more behind the authority, measured too": [measured("authority db", 1, 2, 3, 4), `${PCR7} ${FOREIGN}`],
  "a byte behind a variable, measured too": [measured("dbx", 0), PCR7],
  "a byte behind SbatLevel, measured too": [measured("authority SbatLevel", 0), PCR7],
};
