import { describe, expect, it } from "vitest";
import type { Device } from "../../shared/fleet/device.ts";
import type { Owner, Row } from "./netbox-owner.ts";

/** What `fleetctl inventory apply --json` says. */
export interface Told {
  readonly code: number;
  readonly err: string;
  readonly steps: readonly { readonly do: string; readonly text: string }[];
  readonly refused: readonly string[];
  readonly notes: readonly string[];
}

export interface InventoryTools {
  apply(text: string, ...more: string[]): Promise<Told>;
  device(name: string): Promise<Device>;
  entry(name: string, ...lines: string[]): string;
  /** With site and device type. */
  whole(name: string, ...lines: string[]): string;
  counts(): Promise<unknown>;
  owner(): Owner;
}

/** What owners write that NetBox would take amiss, or only half. After the contract that makes inv1, inv2 and inv3. */
export function netboxOddNodesContract({ apply, device, entry, whole, counts, owner }: InventoryTools): void {
  const nothing = async (text: string) => {
    const before = await counts();
    const told = await apply(text, "--apply");
    expect(await counts()).toEqual(before);
    return { code: told.code, refused: told.refused };
  };

  describe("with a device type that brings interfaces", () => {
    const type = async (slug: string, ports: readonly (readonly [name: string, management: boolean])[]) => {
      const [maker] = (await owner().must("GET", "/api/dcim/manufacturers/?slug=acme")).results as Row[];
      const body = { manufacturer: maker?.id, model: slug, slug };
      const { id } = await owner().must("POST", "/api/dcim/device-types/", body);
      for (const [name, management] of ports)
        await owner().must("POST", "/api/dcim/interface-templates/", {
          ...{ device_type: id, name, type: "1000base-t", mgmt_only: management },
        });
    };
    const node = (slug: string, ...lines: string[]) => entry("odd1", "site: lab", `device_type: ${slug}`, ...lines);

    it("takes those, and makes none beside them", async () => {
      await type("one-port", [
        ["eno1", false],
        ["ipmi", true],
      ]);
      const text = node("one-port", "serial: ODD-1", "address: 10.44.0.11/24", "bmc_address: 10.44.1.11/24");
      const { code, err, steps } = await apply(text, "--apply");
      expect([code, err, ...steps.map((step) => step.do)]).toEqual([
        ...[0, ""],
        ...["create-device", "create-address", "create-address", "change-device"],
      ]);
      expect((await device("odd1")).interfaces.map((one) => [one.name, one.managementOnly])).toEqual([
        ["eno1", false],
        ["ipmi", true],
      ]);
      expect(await apply(text)).toMatchObject({ code: 0, steps: [], refused: [], notes: [] });
    });

    it("wants to know which of several, before anything is written", async () => {
      await type("two-ports", [
        ["eno1", false],
        ["eno2", false],
      ]);
      const like = (...lines: string[]) =>
        node("two-ports", "serial: ODD-2", "address: 10.44.0.12/24", ...lines).replace("odd1", "odd2");
      expect(await nothing(like())).toEqual({
        code: 1,
        refused: ["odd2: its device type brings eno1, eno2: interface must say which is meant"],
      });
      expect((await apply(like("interface: eno2"), "--apply")).code).toBe(0);
      expect((await device("odd2")).interfaces.map((one) => one.name)).toEqual(["eno1", "eno2"]);
      expect((await apply(like("interface: eno2"))).steps).toEqual([]);
    });
  });

  it("refuses a port that is to be both the host's and the BMC's", async () => {
    const both = [
      "serial: ODD-3",
      "interface: eth0",
      "bmc_interface: eth0",
      "address: 10.44.0.13/24",
      "bmc_address: 10.44.1.13/24",
    ];
    expect((await nothing(whole("odd3", ...both))).refused).toEqual([
      "odd3: eth0 cannot be both: the interface that boots the machine, and its BMC's",
    ]);
    expect((await nothing(entry("inv1", "bmc_interface: eth0"))).refused).toEqual([
      expect.stringMatching(/^inv1: interface eth0 has a cable in NetBox/),
    ]);
    expect((await nothing(entry("inv2", "bmc_interface: eth0"))).refused).toEqual([
      expect.stringMatching(/^inv2: interface eth0 has MAC 52:54:00:aa:00:02 in NetBox/),
    ]);
    expect((await nothing(entry("odd1", "bmc_interface: eno1"))).refused).toEqual([
      expect.stringMatching(/^odd1: interface eno1 has the primary address 10\.44\.0\.11\/24 in NetBox/),
    ]);
  });

  it("knows an address and a prefix in whatever spelling: NetBox keeps one", async () => {
    const text = `prefixes: { "2001:DB8:44:0::/64": { gateway: "2001:db8:44::0:1" } }\n${whole(
      "odd6",
      "serial: ODD-6",
      'address: "2001:DB8:44:0::5/64"',
      'bmc_address: "2001:db8:45:0:0::6/64"',
    )}`;
    expect(await apply(text, "--apply")).toMatchObject({ code: 0, err: "" });
    expect(await device("odd6")).toMatchObject({ address: "2001:db8:44::5/64", oobAddress: "2001:db8:45::6" });
    expect(await apply(text)).toMatchObject({ code: 0, steps: [], refused: [] });
    const post = (address: string, more: object = {}) =>
      owner().call("POST", "/api/ipam/ip-addresses/", { address, ...more });
    expect(await post("2001:DB8:44:0::9/64")).toMatchObject({ status: 201, body: { address: "2001:db8:44::9/64" } });
    expect((await post("2001:db8:44::0:9/64")).status).toBe(400);
    const [port] = (await device("odd6")).interfaces;
    const assigned = { assigned_object_type: "dcim.interface", assigned_object_id: port?.id };
    for (const [address, what] of [
      ["10.44.9.0/24", "10.44.9.0 is a network ID"],
      ["10.44.9.255/24", "10.44.9.255 is a broadcast address"],
      ["2001:db8:49::/64", "2001:db8:49:: is a network ID"],
    ] as const)
      expect(await post(address, assigned)).toEqual({
        status: 400,
        body: { __all__: [`${what}, which may not be assigned to an interface.`] },
      });
    const prefix = await owner().call("POST", "/api/ipam/prefixes/", { prefix: "2001:db8:44:0:0::5/64" });
    expect(prefix).toEqual({
      status: 400,
      body: { prefix: ["2001:db8:44::5/64 is not a valid prefix. Did you mean 2001:db8:44::/64?"] },
    });
  });

  it("has a prefix with host bits as a fault of the file: NetBox takes none", async () => {
    expect(await apply("prefixes:\n  10.43.0.5/24:\n")).toMatchObject({ code: 4 });
    const answer = await owner().call("POST", "/api/ipam/prefixes/", { prefix: "10.43.0.5/24" });
    expect(answer).toEqual({
      status: 400,
      body: { prefix: ["10.43.0.5/24 is not a valid prefix. Did you mean 10.43.0.0/24?"] },
    });
  });

  it("NetBox strips texts", async () => {
    const { id } = await device("odd6");
    const path = `/api/dcim/devices/${id}/`;
    expect(await owner().must("PATCH", path, { serial: "  ODD-6 " })).toMatchObject({ serial: "ODD-6" });
  });

  it("refuses one address for a host and for a BMC, within the file and with NetBox", async () => {
    const line = (name: string, words: string) =>
      `  ${name}: { site: lab, device_type: mini-800, serial: ${name}, ${words} }\n`;
    const first = line("odd7", "bmc_address: 10.44.0.77/24");
    const second = line("odd8", "address: 10.44.0.77/24");
    for (const text of [first + second, second + first])
      expect((await nothing(`nodes:\n${text}`)).refused).toEqual([
        "odd7: bmc_address 10.44.0.77 is odd8's address in the file",
      ]);
    const own = line("odd7", "address: 10.44.0.77/24, bmc_address: 10.44.0.77");
    expect((await nothing(`nodes:\n${own}`)).refused).toEqual(["odd7: address and bmc_address are both 10.44.0.77"]);
    expect((await nothing(entry("odd1", "bmc_address: 10.44.0.11/24"))).refused).toEqual([
      "odd1: address 10.44.0.11/24 is on eno1 in NetBox, a host's: it cannot be bmc_address too",
    ]);
    expect((await nothing(entry("odd1", "address: 10.44.1.11/24"))).refused).toEqual([
      "odd1: address 10.44.1.11/24 is on ipmi in NetBox, for management only: it cannot be address too",
    ]);
  });

  it("refuses another's MAC on a second port", async () => {
    const text = entry("inv1", "interface: eth1", "mac: 52:54:00:aa:00:02");
    expect((await nothing(text)).refused).toEqual([
      expect.stringMatching(/^inv1: shares MAC 52:54:00:aa:00:02 with inv2/),
    ]);
  });

  it("lets a conflict be mended value by value: what was there before is a note", async () => {
    const twin = (name: string) =>
      owner().must("POST", "/api/dcim/devices/", {
        ...{ name, serial: "ODD-TWIN", status: "planned", custom_fields: { install_disk_serial: "ODD-DISK" } },
        ...{ role: { slug: "fleet-node" }, site: { slug: "lab" }, device_type: { slug: "mini-800" } },
      });
    await twin("odd9");
    await twin("odd10");
    const mended = await apply(entry("odd9", "serial: ODD-9"), "--apply");
    expect(mended).toMatchObject({ code: 0, refused: [] });
    expect(mended.notes).toEqual([expect.stringMatching(/^odd9: shares install_disk_serial odd-disk with odd10/)]);
    expect((await nothing(entry("odd9", "serial: odd-twin"))).refused).toEqual([
      expect.stringMatching(/^odd9: shares serial odd-twin with odd10 \(device \d+\); install_disk_serial/),
    ]);
    expect(await apply(entry("odd9", "install_disk_serial: ODD-DISK-9"), "--apply")).toMatchObject({ notes: [] });
  });

  it("notes an IPv6 address beside a primary IPv4 one, which goes before it", async () => {
    const { code, notes } = await apply(entry("odd1", 'address: "2001:db8:44::11/64"'), "--apply");
    expect([code, notes]).toEqual([
      0,
      ["odd1: fleetd goes by its primary IPv4 address 10.44.0.11/24, not by 2001:db8:44::11/64"],
    ]);
    expect((await device("odd1")).address).toBe("10.44.0.11/24");
  });
}
