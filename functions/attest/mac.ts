import { inventory } from "../../shared/engine/inventory.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import type { ReasonOf } from "../../shared/fleet/condition.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { withAttention } from "../../shared/fleet/plan/quarantine.ts";
import { interfaceFor } from "../../shared/fleet/plan/wiring.ts";
import type { Deps } from "../../shared/runtime/deps.ts";

/**
 * Records the boot NIC's MAC on the interface with the declared cable, else on the only one that is not management.
 * Null where it is recorded; else why the machine must wait.
 * @see spec/10-protocol.md section 2
 */
export async function recordMac(
  deps: Deps,
  device: Device,
  mac: string,
): Promise<{ code: ReasonOf<"MachineWaits">; detail: string } | null> {
  const { world } = deps;
  const wait = async (code: ReasonOf<"MachineWaits">, detail: string) => {
    const nowMs = world.clock.nowMs();
    await updateRecord(world, device, (r) => withAttention(r, code, detail, "confirm", nowMs));
    return { code, detail };
  };
  const other = (await inventory(world)).find(
    (d) => d.id !== device.id && d.status !== "offline" && d.interfaces.some((i) => i.macs.includes(mac)),
  );
  if (other !== undefined) return wait("mac-conflict", `MAC ${mac} is recorded on ${other.name}: correct NetBox`);
  if (device.interfaces.some((i) => i.primaryMac === mac)) return null;
  const target = interfaceFor(device);
  if (target === null)
    return wait(
      "interface-ambiguous",
      device.interfaces.every((i) => i.managementOnly)
        ? `${device.name} has no host interface in NetBox: declare one with its cable`
        : `${device.name} has several interfaces and no single declared cable: connect one in NetBox`,
    );
  await world.netbox.recordMac(device.id, target.id, mac);
  return null;
}
