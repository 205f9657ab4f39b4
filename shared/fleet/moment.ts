const FORM = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:Z|([+-])(\d\d):?(\d\d))$/;

/** Days from 1970-01-01 in the proleptic Gregorian calendar. */
function civilDays(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yoe = y - era * 400;
  const doy = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return era * 146_097 + yoe * 365 + Math.floor(yoe / 4) - Math.floor(yoe / 100) + doy - 719_468;
}

/** Microseconds since 1970 of an ISO 8601 time with its offset; null for any other text. (Pure rooms have no Date.) */
export function momentMicros(text: string): number | null {
  const found = FORM.exec(text);
  if (found === null) return null;
  const [, year, month, day, hours, minutes, seconds, fraction = "", sign, offsetHours = 0, offsetMinutes = 0] = found;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === "-" ? -1 : 1);
  const days = civilDays(Number(year), Number(month), Number(day));
  const whole = ((days * 24 + Number(hours)) * 60 + Number(minutes) - offset) * 60 + Number(seconds);
  return whole * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}

/**
 * Whether two texts name one moment: NetBox writes a fraction with six digits, or none at all where it is zero, whatever
 * was sent.
 */
export function isSameMoment(a: string | null, b: string | null): boolean {
  if (a === null || b === null) return a === b;
  const [first, second] = [momentMicros(a), momentMicros(b)];
  return first === null || second === null ? a === b : first === second;
}

/** Whether the first names an earlier moment; texts that are no times are compared as texts. */
export function isEarlier(a: string, b: string): boolean {
  const [first, second] = [momentMicros(a), momentMicros(b)];
  return first === null || second === null ? a < b : first < second;
}

/** ISO 8601 in UTC without the Date global (pure rooms have no clock). */
export function isoTime(atMs: number): string {
  const days = Math.floor(atMs / 86_400_000);
  const ms = atMs - days * 86_400_000;
  // Civil date from days since 1970, proleptic Gregorian calendar.
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const doe = z - era * 146_097;
  const yoe = Math.floor((doe - Math.floor(doe / 1460) + Math.floor(doe / 36_524) - Math.floor(doe / 146_096)) / 365);
  const doy = doe - (365 * yoe + Math.floor(yoe / 4) - Math.floor(yoe / 100));
  const mp = Math.floor((5 * doy + 2) / 153);
  const day = doy - Math.floor((153 * mp + 2) / 5) + 1;
  const month = mp < 10 ? mp + 3 : mp - 9;
  const year = yoe + era * 400 + (month <= 2 ? 1 : 0);
  const two = (n: number) => String(n).padStart(2, "0");
  const s = Math.floor(ms / 1000);
  return `${year}-${two(month)}-${two(day)}T${two(Math.floor(s / 3600))}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}.${String(ms % 1000).padStart(3, "0")}Z`;
}
