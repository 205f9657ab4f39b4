import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NetBoxFixture } from "./netbox.ts";
import { type Owner, ownerOf } from "./netbox-owner.ts";

/** What an install asks any NetBox once: the gateways of an address's prefixes. */
export function netboxPrefixesContract(make: () => Promise<NetBoxFixture>): void {
  describe("prefixes", () => {
    let at: NetBoxFixture;
    let owner: Owner;
    const made: number[] = [];

    beforeAll(async () => {
      at = await make();
      owner = ownerOf(at.url, at.adminToken);
    });
    afterAll(async () => {
      for (const id of made) await owner.call("DELETE", `/api/ipam/prefixes/${id}/`);
    });

    it("tells the gateways of the prefixes that hold an address, and of those alone", async () => {
      const add = async (cidr: string, gateway?: string) => {
        const custom_fields = gateway === undefined ? {} : { gateway };
        made.push((await owner.must("POST", "/api/ipam/prefixes/", { prefix: cidr, custom_fields })).id);
      };
      await add("10.61.0.0/16", "10.61.0.1");
      await add("10.61.7.0/24", "10.61.7.1");
      await add("10.61.7.0/25");
      await add("10.61.8.0/24", "10.61.8.1");
      await add("2001:db8:61::/48", "2001:db8:61::1");
      const far = { prefix: "10.61.0.0/16", gateway: "10.61.0.1" };
      const near = { prefix: "10.61.7.0/24", gateway: "10.61.7.1" };
      const sorted = async (address: string) =>
        (await at.port.gatewaysOf(address)).sort((a, b) => a.prefix.localeCompare(b.prefix));
      expect(await sorted("10.61.7.11/24")).toEqual([far, near]);
      expect(await sorted("10.61.7.11")).toEqual([far, near]);
      expect(await sorted("10.61.9.11/16")).toEqual([far]);
      expect(await sorted("2001:db8:61::7/64")).toEqual([{ prefix: "2001:db8:61::/48", gateway: "2001:db8:61::1" }]);
      expect(await sorted("10.62.0.1/16")).toEqual([]);
    });
  });
}
