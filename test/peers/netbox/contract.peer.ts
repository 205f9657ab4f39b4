import { describe } from "vitest";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import { netboxContract } from "../../contracts/netbox.ts";
import { netboxMovedContract } from "../../contracts/netbox-moved.ts";
import { netboxPrefixesContract } from "../../contracts/netbox-prefixes.ts";
import { prepareNetBox } from "./prepare.ts";

/** A running NetBox: PEER_NETBOX_URL, PEER_NETBOX_ADMIN_TOKEN (user `admin`), PEER_NETBOX_TOKEN (user `fleetd`), PEER_NETBOX_ROLE. */
function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`${name} is not set`);
  return value;
}

describe("a real NetBox", () => {
  const fixture = async () => {
    const url = setting("PEER_NETBOX_URL");
    const adminToken = setting("PEER_NETBOX_ADMIN_TOKEN");
    const fleetdToken = setting("PEER_NETBOX_TOKEN");
    const role = setting("PEER_NETBOX_ROLE");
    await prepareNetBox(url, adminToken, role);
    const port = createNetBox({ url, token: fleetdToken, role, timeoutMs: 30_000 });
    return { url, port, fleetdToken, fleetdUser: "fleetd", adminToken, adminUser: "admin", role };
  };
  netboxContract(fixture);
  netboxMovedContract(fixture);
  netboxPrefixesContract(fixture);
});
