import { type Owner, ownerOf, type Row } from "../../contracts/netbox-owner.ts";

const PORTS = 16;

/** Makes what the contracts take for granted beside fleetd's own (`fleetctl netbox setup`): site, types, roles, a switch. */
export async function prepareNetBox(url: string, adminToken: string, role: string): Promise<void> {
  const owner = ownerOf(url, adminToken);
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
