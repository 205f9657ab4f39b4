import { registry } from "../bmc/registry.gen.ts";
import type { MachineManifest } from "../boot-plane.ts";
import { type Device, objectName } from "../device.ts";
import type { FleetSettings } from "../limits.ts";
import { inNetworks } from "../networks.ts";
import { metadata } from "./meta.ts";

export type MachineAnswer =
  | { readonly ok: true; readonly manifest: MachineManifest }
  /** `none`: the device declares no BMC. Otherwise why no Machine may be made. */
  | {
      readonly ok: false;
      readonly reason: "none" | "bmc-type-unknown" | "bmc-address-missing" | "bmc-address-refused";
      readonly text: string;
    };

/**
 * The device's Machine. An OOB IP outside FLEET_BMC_NETWORKS is refused: one edited field would send the BMC password
 * to a stranger.
 * @see spec/00-overview.md "NetBox"
 */
export function machine(
  device: Device,
  { namespace, bmcNetworks, rpcPort }: Pick<FleetSettings, "namespace" | "bmcNetworks" | "rpcPort">,
): MachineAnswer {
  const { bmcType, oobAddress } = device;
  if (bmcType === null) return { ok: false, reason: "none", text: "no BMC is declared" };
  const type = /^[a-z0-9-]{1,40}$/.test(bmcType) && Object.hasOwn(registry, bmcType) ? registry[bmcType] : undefined;
  if (type === undefined)
    return { ok: false, reason: "bmc-type-unknown", text: `bmc_type is none of ${Object.keys(registry).join(", ")}` };
  if (oobAddress === null)
    return { ok: false, reason: "bmc-address-missing", text: "bmc_type is set, but the device has no OOB IP" };
  if (!inNetworks(oobAddress, bmcNetworks))
    return {
      ok: false,
      reason: "bmc-address-refused",
      text: `the OOB IP ${oobAddress} lies outside FLEET_BMC_NETWORKS, so the BMC password is not sent there`,
    };
  const { providerOptions, port, insecureTls } = type(oobAddress, { device: objectName(device.id), rpcPort });
  return {
    ok: true,
    manifest: {
      apiVersion: "bmc.tinkerbell.org/v1alpha1",
      kind: "Machine",
      metadata: metadata(device, objectName(device.id)),
      spec: {
        connection: {
          host: oobAddress,
          ...(port === undefined ? {} : { port }),
          insecureTLS: insecureTls,
          authSecretRef: { name: `bmc-${bmcType}`, namespace },
          providerOptions,
        },
      },
    },
  };
}
