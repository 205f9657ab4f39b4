import { type BootPolicyProfile, loadProfile } from "../../shared/attest/profile.ts";
import type { PolicyTexts } from "../../shared/ports/policy.ts";

const loaded = new WeakMap<object, BootPolicyProfile | null>();

/** The profile of that name, or null where there is none that loads. */
export function profileNamed(texts: PolicyTexts, name: string | null): BootPolicyProfile | null {
  const json = name !== null && Object.hasOwn(texts.profiles, name) ? texts.profiles[name] : undefined;
  if (typeof json !== "object" || json === null) return null;
  const known = loaded.get(json);
  if (known !== undefined) return known;
  const result = loadProfile(json);
  const profile = result.ok ? result.profile : null;
  loaded.set(json, profile);
  return profile;
}
