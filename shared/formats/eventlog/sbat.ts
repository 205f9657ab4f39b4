import { withoutTrailingZeros } from "../cursor.ts";
import { latin1 } from "../der.ts";
import { FormatError } from "../error.ts";

/** SbatLevel: its date and the lowest generation of each component that still boots. @see shim, SBAT.md */
export interface SbatLevel {
  readonly datestamp: string;
  readonly generations: Readonly<Record<string, number>>;
}

/**
 * Reads shim's SbatLevel: lines of `component,generation[,datestamp]`, the first of them `sbat`'s own.
 * @throws FormatError
 */
export function readSbatLevel(data: Uint8Array): SbatLevel {
  const text = latin1(withoutTrailingZeros(data));
  const generations = new Map<string, number>();
  let datestamp = "";
  let offset = 0;
  for (const line of text.split("\n")) {
    const [component = "", generation = "", stamp] = line.trim().split(",");
    if (line.trim() !== "") {
      if (!/^[\x21-\x7e]+$/.test(component) || !/^\d{1,9}$/.test(generation)) {
        throw new FormatError("unknown-value", "SbatLevel", offset, "component,generation wanted");
      }
      generations.set(component, Number(generation));
      if (offset === 0) datestamp = stamp ?? "";
    }
    offset += line.length + 1;
  }
  if (!generations.has("sbat")) throw new FormatError("truncated", "SbatLevel", 0, "no sbat line");
  return { datestamp, generations: Object.fromEntries(generations) };
}
