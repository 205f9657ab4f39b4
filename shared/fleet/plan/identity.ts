import { approvedDigests, eksChanged, identityChanged } from "../binding.ts";
import type { Device } from "../device.ts";
import { installedAs, isInstalledSerial } from "../installed-name.ts";
import type { DeviceRecord } from "../record.ts";
import type { Draft } from "./draft.ts";

/**
 * What a pass binds to the device: its UUID and EKs, and nothing of a machine that is to leave. Another TPM than before
 * has none of the certificates that the old one was given.
 */
export function boundByPass(
  device: Device,
  record: DeviceRecord,
  uuid: string,
): Partial<
  Pick<DeviceRecord, "uuid" | "passedEks" | "acceptedEks" | "identity" | "replacedIdentity" | "pendingIdentity">
> {
  if (device.status === "decommissioning" || identityChanged(device, record)) return {};
  const passedEks = [...approvedDigests(device.approvedEks)];
  if (!eksChanged(device, record)) return { uuid: record.uuid ?? uuid, passedEks, acceptedEks: null };
  const none = { identity: null, replacedIdentity: null, pendingIdentity: null };
  return { uuid, passedEks, acceptedEks: null, ...none };
}

const REINSTALLS =
  "planned REINSTALLS the machine: its disk is rewritten at its next provision, which protected alone prevents";

/** Keys, serial and name that NetBox says and the machine that passed does not have. */
export function explainIdentity(d: Draft): void {
  const { device } = d.o;
  const { record } = d;
  if (eksChanged(device, record)) {
    const eks = approvedDigests(device.approvedEks).map((digest) => digest.slice(7, 19));
    const about = `EKs ${eks.length === 0 ? "none" : eks.join(" ")}`;
    if (identityChanged(device, record))
      d.condition(
        "IdentityChanged",
        "eks-changed",
        `approved_eks changed after a pass: nothing is minted, served or renewed until an owner sets the device planned, with that change or after it; ${REINSTALLS}`,
        about,
      );
    else
      d.condition(
        "IdentityChanged",
        "eks-accepted",
        `approved_eks changed after a pass, and an owner set the device planned: another TPM is let in; ${REINSTALLS}`,
        about,
      );
  }
  const installed = installedAs(record);
  if (installed === null || device.status !== "active") return;
  if (!isInstalledSerial(device, installed))
    d.condition(
      "IdentityChanged",
      "serial-changed",
      `the serial is ${device.serial}, but the node was installed as ${installed.serial}: no renewal, not listed for SPIRE`,
      installed.serial,
    );
  if (device.name !== installed.name)
    d.condition(
      "InstalledName",
      "name-changed",
      `the node runs, renews and is listed for SPIRE as ${installed.name}, unless another device has that name now: ${device.name} counts from its next provision`,
      device.name,
    );
}
