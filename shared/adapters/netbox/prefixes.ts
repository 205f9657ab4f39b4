import type { PrefixGateway } from "../../fleet/networks.ts";
import { PortError } from "../../ports/error.ts";
import type { NetBoxClient } from "./client.ts";
import type { FieldNames } from "./field-names.ts";
import { PREFIX_FIELDS, prefixRow, read } from "./schema.ts";

/** Prefixes that hold the address, as far as they have the gateway field; whether they hold it is checked by who asks. */
export async function readGateways(client: NetBoxClient, address: string, names: FieldNames): Promise<PrefixGateway[]> {
  const [host = ""] = address.split("/");
  // By the address alone: with a length NetBox would look for what holds that whole network.
  return client.rows(
    "/api/ipam/prefixes/",
    [
      ["contains", host],
      ["fields", PREFIX_FIELDS],
    ],
    (body) => {
      const { prefix, custom_fields } = read(prefixRow, body, "prefixes");
      const gateway = custom_fields[names.gateway] ?? "";
      if (gateway === "") return null;
      if (typeof gateway === "string") return { prefix, gateway };
      throw new PortError("rejected", "netbox", `prefix ${prefix}: custom field ${names.gateway} is not of type text`);
    },
  );
}
