import { bitsIn } from "./addresses.ts";
import type { Draft, Subject } from "./plan-ports.ts";
import type { InventoryState } from "./state.ts";
import { type AddressKey, shown } from "./step.ts";

export function hostOf(address: string): string {
  return address.split("/")[0] ?? "";
}

/** An address of the file, for one of the device's address fields. */
export interface WantedAddress {
  readonly key: AddressKey;
  readonly what: string;
  readonly address: string;
  /** The interface that it is to be on. */
  readonly port: string;
}

/** Makes or takes the address where NetBox lacks it. @returns the change in words, or null where nothing is to be changed */
export function planAddress(
  plan: Draft,
  subject: Subject,
  wanted: WantedAddress,
  state: InventoryState,
): string | null {
  const { key, what, address } = wanted;
  const has = subject.row?.[key]?.address ?? null;
  if (has !== null && (address.includes("/") ? has === address : hostOf(has) === hostOf(address))) return null;
  return assign(plan, subject, wanted, state) ? `${what}: ${shown(has)} → ${address}` : null;
}

/** @returns whether the device will have the address, and may make it its primary or OOB IP */
function assign(
  plan: Draft,
  { name, row }: Subject,
  { key, address: wanted, port }: WantedAddress,
  state: InventoryState,
): boolean {
  const [found, ...more] = state.addresses.filter((one) => hostOf(one.address) === hostOf(wanted));
  const address = wanted.includes("/") ? wanted : `${wanted}/${bitsIn(wanted)}`;
  if (found === undefined) {
    plan.steps.push({ do: "create-address", node: name, name: port, address });
    return true;
  }
  const holder = found.assigned_object?.device;
  if (more.length > 0) plan.refuse(`NetBox has address ${hostOf(wanted)} more than once`);
  else if (wanted.includes("/") && found.address !== wanted)
    plan.refuse(`NetBox has ${found.address}, and the file says ${wanted}`);
  else if (found.assigned_object_id === null)
    plan.steps.push({ do: "assign-address", node: name, name: port, address: found.address, id: found.id });
  else if (row === null || holder?.id !== row.id) {
    plan.refuse(`address ${found.address} is of ${holder?.name ?? "another object"} in NetBox`);
  } else {
    const at = state.ports.find((one) => one.id === found.assigned_object_id);
    if (at === undefined || at.name === port || at.mgmt_only === (key === "oob_ip")) return true;
    plan.refuse(
      `address ${found.address} is on ${at.name} in NetBox, ${at.mgmt_only ? "for management only" : "a host's"}: it cannot be ${key === "oob_ip" ? "bmc_address" : "address"} too`,
    );
  }
  return more.length === 0 && found.assigned_object_id === null;
}
