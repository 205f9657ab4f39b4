import { models } from "./models.ts";
import type { Row, TableName, World } from "./world.ts";
import { create, update } from "./write.ts";

export interface SeedOptions {
  /** Slug of the fleet's device role. */
  readonly role: string;
  /** Where device events go, and the text that signs them; `caFile` for a receiver with a private CA. */
  /** Without what fleetd needs: its role and its custom fields. */
  readonly bare?: boolean;
  readonly webhook?: { readonly url: string; readonly secret: string; readonly caFile?: string } | undefined;
}

const PORTS = 48;
const fields: Readonly<Record<string, string>> = {
  desired_action: "select",
  fleet_class: "text",
  install_disk: "text",
  install_disk_serial: "text",
  bmc_type: "text",
  approved_eks: "json",
  protected: "boolean",
  cluster_token_approved: "boolean",
  attestation_verdict: "select",
  attested_at: "datetime",
  dbx_hash: "text",
  sbat_level: "text",
  fleet_run: "json",
  fleet_identity: "json",
};
const selections: Readonly<Record<string, readonly (readonly [value: string, label: string])[]>> = {
  desired_action: [
    ["provision", "Provision"],
    ["attest", "Attest"],
    ["wipe", "Wipe"],
  ],
  attestation_verdict: [
    ["pass", "Pass"],
    ["fail", "Fail"],
  ],
};

/** What an owner's NetBox has before the first machine: fields, a role, a site, a type, one switch with 48 ports. */
export function seed(world: World, options: SeedOptions): void {
  const add = (table: TableName, body: Record<string, unknown>): Row => {
    const model = models[table];
    const made = model === undefined ? { faults: { table } } : create(world, model, body);
    if ("faults" in made) throw new Error(`the seed is refused: ${JSON.stringify(made.faults)}`);
    return made.after;
  };
  if (options.bare !== true) seedFields(add);
  const manufacturer = add("manufacturers", { name: "Acme", slug: "acme" }).id;
  add("device-types", { manufacturer, model: "Mini 800", slug: "mini-800", u_height: 0 });
  const switchType = add("device-types", { manufacturer, model: "Switch 48", slug: "switch-48" });
  if (options.bare !== true) add("device-roles", { name: options.role, slug: options.role, color: "2196f3" });
  const switchRole = add("device-roles", { name: "switch", slug: "switch" });
  const site = add("sites", { name: "Lab", slug: "lab" });
  const device = add("devices", {
    name: "sw-000",
    serial: "SW000000",
    device_type: switchType.id,
    role: switchRole.id,
    site: site.id,
  });
  for (let port = 1; port <= PORTS; port++) {
    const row = add("interfaces", { device: device.id, name: `port${port}`, label: `${port}`, type: "1000base-t" });
    const mac = add("mac-addresses", {
      mac_address: `02:00:5E:00:00:${port.toString(16).padStart(2, "0")}`,
      assigned_object_type: "dcim.interface",
      assigned_object_id: row.id,
    });
    if (models.interfaces !== undefined) update(world, models.interfaces, row, { primary_mac_address: mac.id });
  }
  if (options.webhook !== undefined) seedWebhook(add, options.webhook);
}

function seedFields(add: (table: TableName, body: Record<string, unknown>) => Row): void {
  add("custom-fields", { object_types: ["ipam.prefix"], type: "text", name: "gateway", label: "gateway" });
  for (const [name, type] of Object.entries(fields)) {
    const extra = selections[name];
    const set =
      extra &&
      add("custom-field-choice-sets", { name: `fleet_${name}`, extra_choices: extra.map((each) => [...each]) });
    add("custom-fields", {
      object_types: ["dcim.device"],
      type,
      name,
      label: name,
      group_name: "fleetd",
      filter_logic: "exact",
      choice_set: set?.id ?? null,
    });
  }
}

function seedWebhook(
  add: (table: TableName, body: Record<string, unknown>) => Row,
  hook: NonNullable<SeedOptions["webhook"]>,
): void {
  const row = add("webhooks", {
    name: "fleetd",
    payload_url: hook.url,
    secret: hook.secret,
    ...(hook.caFile === undefined ? {} : { ca_file_path: hook.caFile }),
  });
  add("event-rules", {
    name: "fleetd-device",
    object_types: ["dcim.device"],
    event_types: ["object_created", "object_updated", "object_deleted"],
    action_object_id: row.id,
  });
}
