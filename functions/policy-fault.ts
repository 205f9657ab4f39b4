import { profilesFault } from "../shared/attest/profile.ts";
import { classesFault } from "../shared/engine/policy-check.ts";
import type { PolicyTexts } from "../shared/ports/policy.ts";

/** What is wrong with the policy files: profiles, classes, class inputs; null where they can be used. */
export function policyFault(texts: PolicyTexts): string | null {
  const profile = profilesFault(texts.profiles);
  return profile === null ? classesFault(texts) : `FLEET_PROFILES: ${profile}`;
}
