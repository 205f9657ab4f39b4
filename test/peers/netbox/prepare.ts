import { type Owner, ownerOf, type Row } from "../../contracts/netbox-owner.ts";

const selections: Readonly<Record<string, readonly (readonly string[])[]>> = {
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
const PORTS = 16;

/** Makes in a real, empty NetBox what the contract takes for granted; may be run again. */
export async function prepareNetBox(url: string, adminToken: string, role: string): Promise<void> {
  const owner = ownerOf(url, adminToken);
  for (const [name, type] of Object.entries(fields)) {
    const choices = selections[name];
    const set =
      choices === undefined
        ? null
        : (
            await ensure(owner, "/api/extras/custom-field-choice-sets/", `name=fleet_${name}`, {
              name: `fleet_${name}`,
              extra_choices: choices,
            })
          ).id;
    await ensure(owner, "/api/extras/custom-fields/", `name=${name}`, {
      object_types: ["dcim.device"],
      type,
      name,
      label: name,
      filter_logic: "exact",
      ...(set === null ? {} : { choice_set: set }),
    });
  }
  const gateway = { object_types: ["ipam.prefix"], type: "text", name: "gateway", label: "gateway" };
  await ensure(owner, "/api/extras/custom-fields/", "name=gateway", gateway);
  const named = (name: string, slug: string) => ({ name, slug });
  const maker = await ensure(owner, "/api/dcim/manufacturers/", "slug=acme", named("Acme", "acme"));
  const type = (model: string, slug: string, height: number) =>
    ensure(owner, "/api/dcim/device-types/", `slug=${slug}`, { manufacturer: maker.id, model, slug, u_height: height });
  await type("Mini 800", "mini-800", 0);
  const switchType = await type("Switch 48", "switch-48", 1);
  await ensure(owner, "/api/dcim/device-roles/", `slug=${role}`, { ...named(role, role), color: "2196f3" });
  const switchRole = await ensure(owner, "/api/dcim/device-roles/", "slug=switch", named("switch", "switch"));
  const site = await ensure(owner, "/api/dcim/sites/", "slug=lab", named("Lab", "lab"));
  const device = { name: "sw-000", device_type: switchType.id, role: switchRole.id, site: site.id };
  const { id } = await ensure(owner, "/api/dcim/devices/", "name=sw-000", device);
  for (let port = 1; port <= PORTS; port++) {
    const row = { device: id, name: `port${port}`, label: `${port}`, type: "1000base-t" };
    const made = await ensure(owner, "/api/dcim/interfaces/", `device_id=${id}&name=port${port}`, row);
    // The contract plugs machines in: a cable of an earlier run would be in its way.
    const cable = (made.cable as Row | null)?.id;
    if (cable !== undefined) await owner.call("DELETE", `/api/dcim/cables/${cable}/`);
  }
}

async function ensure(owner: Owner, path: string, query: string, body: unknown): Promise<Row> {
  const found = await owner.must("GET", `${path}?${query}`);
  const [first] = found.results as Row[];
  return first ?? owner.must("POST", path, body);
}
