import { type Check, failed, ok, warning } from "./check.ts";
import type { Probe } from "./probe.ts";

const CLOCK_WARNING_MS = 5_000;
const CLOCK_FAILURE_MS = 60_000;
const EXPIRY_WARNING_DAYS = 14;
const DAY_MS = 86_400_000;

/** The clock and the certificate of a server that was asked. */
export function serverChecks(name: string, { aheadMs, tls }: Probe): Check[] {
  return [
    ...(aheadMs === null ? [] : [clockCheck(`${name} clock`, aheadMs)]),
    ...(tls === null ? [] : tlsChecks(name, tls)),
  ];
}

function tlsChecks(name: string, { validToMs, fault }: NonNullable<Probe["tls"]>): Check[] {
  const todo =
    "mend its certificate, or name what issued it (NODE_EXTRA_CA_CERTS; certificate-authority of a kubeconfig)";
  return [
    ...(fault === null ? [] : [failed(`${name} certificate`, `not accepted: ${fault}`, todo)]),
    expiryCheck(`${name} certificate`, validToMs),
  ];
}

function clockCheck(name: string, aheadMs: number): Check {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const text = `${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  const todo = "let both follow one NTP server: requests, tokens and webhooks are told apart by their times";
  if (Math.abs(aheadMs) > CLOCK_FAILURE_MS) return failed(name, text, todo);
  return Math.abs(aheadMs) > CLOCK_WARNING_MS
    ? warning(name, text, todo)
    : ok(name, "as this machine's, to some seconds");
}

/** A certificate's time: whether it has begun, and its end. */
export function validityCheck(
  name: string,
  { validFrom, validTo }: { readonly validFrom: string; readonly validTo: string },
  warningDays?: number,
): Check {
  const begin = new Date(validFrom);
  if (begin.getTime() > Date.now())
    return failed(
      name,
      `not valid before ${begin.toISOString().slice(0, 16)}Z`,
      "look at this machine's clock; else have one issued that is valid by now",
    );
  return expiryCheck(name, Date.parse(validTo), warningDays);
}

/** The end of a certificate's time. */
export function expiryCheck(name: string, validToMs: number, warningDays = EXPIRY_WARNING_DAYS): Check {
  const day = new Date(validToMs).toISOString().slice(0, 10);
  const days = Math.floor((validToMs - Date.now()) / DAY_MS);
  if (validToMs <= Date.now()) return failed(name, `expired on ${day}`, "renew it");
  return days < warningDays
    ? warning(name, `expires in ${days} days, on ${day}`, "renew it")
    : ok(name, `valid until ${day}`);
}
