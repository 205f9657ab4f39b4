/** One write of an inventory: a value that says all, carried out without any choice. */
export type InventoryStep =
  | { readonly do: "create-prefix"; readonly prefix: string; readonly gateway: string | null }
  | { readonly do: "set-gateway"; readonly prefix: string; readonly id: number; readonly gateway: string }
  | { readonly do: "create-device"; readonly node: string; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly do: "create-interface";
      readonly node: string;
      readonly name: string;
      readonly type: string;
      readonly management: boolean;
    }
  | { readonly do: "mark-management"; readonly node: string; readonly name: string }
  | { readonly do: "set-mac"; readonly node: string; readonly name: string; readonly mac: string }
  | { readonly do: "create-address"; readonly node: string; readonly name: string; readonly address: string }
  | {
      readonly do: "assign-address";
      readonly node: string;
      readonly name: string;
      readonly address: string;
      readonly id: number;
    }
  | {
      readonly do: "connect";
      readonly node: string;
      readonly name: string;
      readonly switchPort: string;
      readonly portId: number;
    }
  | {
      readonly do: "change-device";
      readonly node: string;
      /** Keys of NetBox's device, without its addresses. */
      readonly body: Readonly<Record<string, unknown>>;
      /** Hosts of addresses that are there by now. */
      readonly addresses: Readonly<Partial<Record<AddressKey, string>>>;
      /** Of the read that this was decided by; null for a device that a step before makes. */
      readonly lastUpdated: string | null;
      readonly texts: readonly string[];
    };

export type AddressKey = "primary_ip4" | "primary_ip6" | "oob_ip";

/** The step in a person's words. */
export function stepText(step: InventoryStep): string {
  switch (step.do) {
    case "create-prefix":
      return `prefix ${step.prefix}: make it${step.gateway === null ? "" : `, gateway ${step.gateway}`}`;
    case "set-gateway":
      return `prefix ${step.prefix}: gateway ${step.gateway}`;
    case "create-device": {
      const { serial, status, custom_fields: fields } = step.body;
      const kept = Object.entries(Object(fields)).map(([key, value]) => `${key} ${shown(value)}`);
      return `${step.node}: declare it, ${[`status ${status}`, `serial ${serial}`, ...kept].join(", ")}`;
    }
    case "create-interface":
      return `${step.node}: interface ${step.name} (${step.type}${step.management ? ", for management only" : ""})`;
    case "mark-management":
      return `${step.node}: interface ${step.name} is for management only`;
    case "set-mac":
      return `${step.node}: MAC ${step.mac} on ${step.name}`;
    case "create-address":
      return `${step.node}: address ${step.address} on ${step.name}`;
    case "assign-address":
      return `${step.node}: address ${step.address}, which NetBox has already, on ${step.name}`;
    case "connect":
      return `${step.node}: cable from ${step.name} to ${step.switchPort}`;
    case "change-device":
      return `${step.node}: ${step.texts.join(", ")}`;
  }
}

/** A value in a line; EK bindings by their digests and sources. */
export function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") return "(none)";
  return typeof value === "string" ? value : JSON.stringify(value);
}
