import { profilesFault } from "../attest/profile.ts";
import { classesFault } from "../engine/policy-check.ts";
import type { PolicyTexts } from "../ports/policy.ts";

/** What is wrong with the policy files: profiles, classes, class inputs; null where they can be used. */
export function policyFault(texts: PolicyTexts): string | null {
  const profile = profilesFault(texts.profiles);
  return profile === null ? classesFault(texts) : `FLEET_PROFILES: ${profile}`;
}
