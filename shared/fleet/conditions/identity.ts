import { kind, reason } from "./_kind.ts";
import { bootRefusals } from "./refusals.ts";

/** Who the machine is, and how it booted. */
export const identityConditions = {
  IdentityChanged: kind("Serial or approved EKs in NetBox are not those of the machine that fleetd knows.", "danger", {
    "identity-changed": reason(
      "owner",
      "They changed under an install: nothing is minted or served for it.",
      "The change is taken back, or the owner requests provision once the run has ended.",
    ),
    "eks-changed": reason(
      "owner",
      "approved_eks changed after a pass: nothing is minted, served or renewed.",
      "An owner sets the device planned with that change or after it, or the change is taken back.",
    ),
    "eks-accepted": reason(
      "machine",
      "approved_eks changed, and an owner set the device planned: a machine with the new TPM is let in, and installed.",
      "The machine with the new TPM passes.",
    ),
    "serial-changed": reason(
      "owner",
      "The serial changed on an installed node: it is not renewed and not listed for SPIRE.",
      "The serial is changed back, or a new provision ends.",
    ),
  }),
  InstalledName: kind("The device's name changed after it was installed.", "warning", {
    "name-changed": reason(
      "owner",
      "The node keeps the name that it was installed with.",
      "A new provision ends, or the name is changed back.",
    ),
  }),
  AttestationFailed: kind(
    "The last quote was genuine, and the boot that it proves misses the policy.",
    "danger",
    bootRefusals,
  ),
  AttestationOld: kind(
    "The running node has not proven itself for too long, so it is not listed for SPIRE.",
    "warning",
    {
      never: reason("machine", "It was adopted, and has not renewed since.", "A renewal of the node passes."),
      "too-old": reason(
        "machine",
        "Its last passing quote is older than FLEET_ATTEST_MAX_AGE_MS.",
        "A renewal of the node passes.",
      ),
    },
  ),
  Quarantined: kind("The worker is cordoned and tainted, gets no renewal, and is not listed for SPIRE.", "danger", {
    "by-intake": reason(
      "owner",
      "A quote of its HookOS missed the boot policy.",
      "It attests in HookOS and passes: the owner requests attest, or provision.",
    ),
    "by-renewal": reason(
      "owner",
      "A quote of its installed system missed the boot policy.",
      "A renewal's quote passes, or the owner requests provision.",
    ),
  }),
  MassFailure: kind(
    "So many devices missed their boot policy within a day that a bad profile is likelier than an attack.",
    "danger",
    {
      "held-back": reason(
        "operator",
        "This device failed too, and is not quarantined for it.",
        "The profile is mended and the device passes; or, where the failures are real, an administrator runs fleetctl accept --failures.",
      ),
    },
  ),
};
