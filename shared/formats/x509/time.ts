import { type Der, der, latin1, TAG } from "../der.ts";
import { FormatError } from "../error.ts";

const DAY_MS = 86_400_000;

// Days since 1970-01-01 of a civil date and back; the calendar of eras of 400 years that begin in March.
function daysOf(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilOf(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const mp = Math.floor((5 * dayOfYear + 2) / 153);
  const month = mp < 10 ? mp + 3 : mp - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * mp + 2) / 5) + 1,
  };
}

/**
 * A UTCTime or GeneralizedTime, in milliseconds since 1970.
 * @throws FormatError
 * @see RFC 5280 section 4.1.2.5
 */
export function readTime(element: Der, structure: string): number {
  const text = latin1(element.contents.subarray(0, 32));
  const digits = element.tag === TAG.UTC_TIME ? 2 : element.tag === TAG.GENERALIZED_TIME ? 4 : 0;
  const match = new RegExp(`^(\\d{${digits}})(\\d\\d)(\\d\\d)(\\d\\d)(\\d\\d)(\\d\\d)?Z$`).exec(text);
  if (digits === 0 || !match) throw new FormatError("unknown-value", structure, element.offset, "no time");
  const [written = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const year = digits === 4 ? written : written < 50 ? 2000 + written : 1900 + written;
  const days = daysOf(year, month, day);
  const back = civilOf(days);
  if (month < 1 || month > 12 || back.day !== day || hour > 23 || minute > 59 || second > 60) {
    throw new FormatError("out-of-bounds", structure, element.offset, text);
  }
  return days * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** A time as certificates must write it: UTCTime through 2049, GeneralizedTime from 2050. */
export function writeTime(ms: number): Uint8Array {
  const days = Math.floor(ms / DAY_MS);
  const { year, month, day } = civilOf(days);
  const seconds = Math.floor((ms - days * DAY_MS) / 1000);
  const two = (value: number): string => String(value).padStart(2, "0");
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join("");
  const utc = year >= 1950 && year < 2050;
  const text = `${utc ? two(year % 100) : String(year).padStart(4, "0")}${two(month)}${two(day)}${clock}Z`;
  return der(utc ? TAG.UTC_TIME : TAG.GENERALIZED_TIME, new TextEncoder().encode(text));
}
