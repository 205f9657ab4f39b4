import { type BootPolicyProfile, loadProfile, profilePcrs } from "./profile.ts";
import type { Bank } from "./verdict.ts";

const loaded = new WeakMap<object, BootPolicyProfile | null>();

/** The profile of that name, or null where there is none that loads. */
export function profileNamed(
  texts: { readonly profiles: Readonly<Record<string, unknown>> },
  name: string | null,
): BootPolicyProfile | null {
  const json = name !== null && Object.hasOwn(texts.profiles, name) ? texts.profiles[name] : undefined;
  if (typeof json !== "object" || json === null) return null;
  const known = loaded.get(json);
  if (known !== undefined) return known;
  const result = loadProfile(json);
  const profile = result.ok ? result.profile : null;
  loaded.set(json, profile);
  return profile;
}

/**
 * Whether a token's quote is what the profile asks for now: an edit during a session is no fault of the machine, so
 * there is nothing to judge.
 */
export function isStillAsked(
  profile: BootPolicyProfile | null,
  of: { readonly bank: Bank; readonly select: readonly number[] },
): boolean {
  const asked = quoteAsked(profile);
  return asked.bank === of.bank && asked.select.join() === of.select.join();
}

/** The bank and PCRs that a quote is asked for: the profile's choice, never the machine's. */
export function quoteAsked(profile: BootPolicyProfile | null): { bank: Bank; select: number[] } {
  if (profile === null) return { bank: "sha256", select: [0, 1, 2, 3, 4, 5, 6, 7] };
  return { bank: profile.bank, select: profilePcrs(profile) };
}
