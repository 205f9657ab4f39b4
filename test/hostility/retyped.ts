import { EV } from "../../shared/formats/eventlog/event-types.ts";
import { type Attack, good, relogged } from "./attack.ts";

const types = Object.values(EV);

/** Each record of PCR 7 under each other type; the digests, and so the quote, fit all the same. */
export const RETYPED: readonly (readonly [string, number, Attack])[] = [
  "SecureBoot",
  "PK",
  "KEK",
  "db",
  "dbx",
  "separator",
  "authority db",
  "authority SbatLevel",
].flatMap((name) =>
  types.map((type) => [name, type, { boot: good, logged: relogged(name, () => ({ type })) }] as const),
);

/** Each record outside PCR 7 under each other type. */
export const RETYPED_ELSEWHERE: readonly (readonly [string, number, Attack])[] = [
  "PCR 0",
  "PCR 4",
  "PCR 8",
  "PCR 9",
].flatMap((name) =>
  types.map((type) => [name, type, { boot: good, logged: relogged(name, () => ({ type })) }] as const),
);
