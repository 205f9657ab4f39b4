import type { HardwareManifest } from "../boot-plane.ts";
import { bootMac, type Device, objectName } from "../device.ts";
import { metadata } from "./meta.ts";

/** The device's one Hardware; without a known MAC it has no interface (spec/30, "Observed"). */
export function hardware(
  device: Device,
  allowPxe: boolean,
  hasMachine: boolean,
  uuid: string | null,
  /** The MAC that an unfinished run goes by. */
  runMac: string | null = null,
): HardwareManifest {
  const mac = runMac ?? bootMac(device);
  const name = objectName(device.id);
  return {
    apiVersion: "tinkerbell.org/v1alpha1",
    kind: "Hardware",
    metadata: metadata(device, name),
    spec: {
      ...(hasMachine ? { bmcRef: { apiGroup: "bmc.tinkerbell.org", kind: "Machine", name } } : {}),
      disks: device.installDisk === null ? [] : [{ device: `/dev/${device.installDisk}` }],
      interfaces:
        mac === null
          ? []
          : [
              {
                dhcp: { mac, hostname: device.name, arch: "x86_64", uefi: true },
                netboot: { allowPXE: allowPxe, allowWorkflow: allowPxe },
              },
            ],
      metadata: { instance: { id: uuid ?? String(device.id), hostname: device.name } },
    },
  };
}
