import { createPolicy, type PolicyCheck } from "../adapters/policy/policy-files.ts";
import type { PolicyPort } from "../ports/policy.ts";
import type { Settings } from "./config.ts";

/** The files that git owns, as the settings name them. */
export function openPolicy(s: Settings, check: PolicyCheck): PolicyPort {
  return createPolicy(
    {
      classes: s.FLEET_CLASSES,
      classInputs: s.FLEET_CLASS_INPUTS ?? null,
      ekPins: s.FLEET_EK_PINS ?? null,
      ekRoots: s.FLEET_EK_ROOTS ?? null,
      profiles: s.FLEET_PROFILES,
      talosSecrets: s.FLEET_TALOS_SECRETS_FILE ?? null,
    },
    check,
  );
}
