import type { RefusalCode } from "../../attest/verdict.ts";
import { type Reason, reason } from "./_kind.ts";

const AFTER = "A later quote passes";

/** Why a boot misses its policy, in the words of the journal; each completes "the quote was refused: …". */
const BOOT_WORDS = {
  "authority-not-accepted": ["it booted something that no accepted authority signed", "a boot of accepted software"],
  "not-hookos": ["it did not boot HookOS", "a boot of HookOS"],
  "secure-boot-mismatch": [
    "Secure Boot is not what its class demands, or its measurements do not fit",
    "Secure Boot set as the class demands",
  ],
  "validation-off": ["shim's validation is switched off", "mokutil --enable-validation"],
  "event-log-missing": ["it sent no event log", "a firmware and kernel that give the log"],
  "event-log-malformed": ["its event log is broken", "a firmware update, if it goes on"],
  "event-log-mismatch": ["its event log does not give the quoted PCRs", "a new boot"],
  "pcr-zero": ["its firmware measured nothing", "a firmware that measures"],
  "profile-missing": ["its class has no boot-policy profile", "a profile of that name in FLEET_PROFILES"],
  "quote-invalid": ["its quote is of another bank than its profile's", "a new session"],
} as const satisfies Partial<Record<RefusalCode, readonly [words: string, after: string]>>;

export type BootRefusal = keyof typeof BOOT_WORDS;

/** What a refused boot means, in words that complete a sentence; a code without any stands for itself. */
export function refusalWords(code: string): string {
  return Object.hasOwn(BOOT_WORDS, code) ? BOOT_WORDS[code as BootRefusal][0] : code;
}

function bootReason(code: BootRefusal): Reason {
  const who = code === "profile-missing" ? "operator" : "owner";
  return reason(who, `The quote was refused: ${BOOT_WORDS[code][0]}.`, `${AFTER}, after ${BOOT_WORDS[code][1]}.`);
}

export const bootRefusals: Readonly<Record<BootRefusal, Reason>> = {
  "authority-not-accepted": bootReason("authority-not-accepted"),
  "not-hookos": bootReason("not-hookos"),
  "secure-boot-mismatch": bootReason("secure-boot-mismatch"),
  "validation-off": bootReason("validation-off"),
  "event-log-missing": bootReason("event-log-missing"),
  "event-log-malformed": bootReason("event-log-malformed"),
  "event-log-mismatch": bootReason("event-log-mismatch"),
  "pcr-zero": bootReason("pcr-zero"),
  "profile-missing": bootReason("profile-missing"),
  "quote-invalid": bootReason("quote-invalid"),
};
