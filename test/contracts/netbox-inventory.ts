import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNetBox } from "../../shared/adapters/netbox/netbox.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { run } from "../infra/fleetctl/cli.ts";
import { netboxOddNodesContract, type Told } from "./netbox-odd-nodes.ts";
import { type Owner, ownerOf, type Row } from "./netbox-owner.ts";

export interface SetUpNetBox {
  readonly url: string;
  readonly adminToken: string;
  /** Of `fleet-node` and of fleetd's fields; with site `lab`, type `mini-800`, switch `sw-000` with free ports 5 to 8. */
  readonly role: string;
}

const ek = (digit: string) => `sha256:${digit.repeat(64)}`;
const FILE = `
defaults: { site: lab, device_type: mini-800, fleet_class: talos-worker, install_disk: nvme0n1, bmc_type: redfish }
prefixes:
  10.41.0.0/24: { gateway: 10.41.0.1 }
nodes:
  inv1:
    serial: INV-0001
    switch_port: { device: sw-000, interface: port6 }
    address: 10.41.0.11/24
    bmc_address: 10.42.0.11/16
    install_disk_serial: DISK-INV1
    approved_eks: [{ digest: "${ek("a")}", source: "SUPPLIER:note 4711" }]
  inv2:
    serial: INV-0002
    mac: 52:54:00:AA:00:02
    address: 10.41.0.12/24
    bmc_address: 10.42.0.12
    protected: true
`;

/** `fleetctl inventory apply` against a NetBox that is set up. */
export function netboxInventoryContract(setUp: () => Promise<SetUpNetBox>): void {
  describe("fleetctl inventory apply", () => {
    const folder = mkdtempSync(join(tmpdir(), "fleetctl-inventory-"));
    let owner: Owner;
    let env: Record<string, string>;
    let devices: () => Promise<Device[]>;
    const apply = async (text: string, ...more: string[]): Promise<Told> => {
      const path = join(folder, "nodes.yaml");
      writeFileSync(path, text);
      const { code, out, err } = await run(["inventory", "apply", path, "--json", ...more], env);
      return { code, err, steps: [], refused: [], notes: [], ...(out === "" ? {} : JSON.parse(out)) };
    };
    const device = async (name: string) => {
      const found = (await devices()).find((one) => one.name === name);
      if (found === undefined) throw new Error(`no ${name}`);
      return found;
    };
    const entry = (name: string, ...lines: string[]) =>
      `nodes:\n  ${name}:\n${lines.map((line) => `    ${line}\n`).join("")}`;
    const whole = (name: string, ...lines: string[]) => entry(name, "site: lab", "device_type: mini-800", ...lines);
    const counts = async () => {
      const of = async (path: string) => (await owner.must("GET", `${path}?limit=1`)).count;
      return Promise.all(
        ["dcim/devices", "dcim/interfaces", "dcim/cables", "ipam/ip-addresses", "ipam/prefixes"].map((one) =>
          of(`/api/${one}/`),
        ),
      );
    };

    beforeAll(async () => {
      const { url, adminToken, role } = await setUp();
      owner = ownerOf(url, adminToken);
      const port = createNetBox({ url, token: adminToken, role, timeoutMs: 30_000 });
      devices = () => port.devices();
      env = { FLEETCTL_NETBOX_URL: url, FLEETCTL_NETBOX_TOKEN: adminToken, FLEET_NETBOX_ROLE: role };
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it("shows its plan, and does nothing", async () => {
      const before = await counts();
      const { code, steps } = await apply(FILE);
      expect(code).toBe(3);
      expect(steps.map((step) => step.do)).toEqual([
        "create-prefix",
        ...[
          "create-device",
          "create-interface",
          "connect",
          "create-interface",
          "create-address",
          "create-address",
          "change-device",
        ],
        ...[
          "create-device",
          "create-interface",
          "set-mac",
          "create-interface",
          "create-address",
          "create-address",
          "change-device",
        ],
      ]);
      // The class is given last: a machine that boots before its cable is there is not admitted unseen.
      expect(JSON.stringify(steps.filter((step) => step.do === "create-device"))).not.toContain("fleet_class");
      for (const step of steps.filter(({ do: what }) => what === "change-device"))
        expect(step).toMatchObject({ body: { custom_fields: { fleet_class: "talos-worker" } } });
      expect(await counts()).toEqual(before);
    });

    it("makes what fleetd reads", async () => {
      expect(await apply(FILE, "--apply")).toMatchObject({ code: 0, err: "", refused: [], notes: [] });
      expect(await device("inv1")).toMatchObject({
        serial: "INV-0001",
        status: "planned",
        desiredAction: null,
        fleetClass: "talos-worker",
        installDisk: "nvme0n1",
        installDiskSerial: "DISK-INV1",
        bmcType: "redfish",
        oobAddress: "10.42.0.11",
        address: "10.41.0.11/24",
        approvedEks: [{ digest: ek("a"), source: "SUPPLIER:note 4711" }],
        protected: false,
        interfaces: [
          {
            name: "eth0",
            managementOnly: false,
            primaryMac: null,
            peer: { deviceName: "sw-000", interfaceName: "port6" },
          },
          { name: "bmc", managementOnly: true, peer: null },
        ],
      });
      expect(await device("inv2")).toMatchObject({
        protected: true,
        oobAddress: "10.42.0.12",
        interfaces: [{ name: "eth0", primaryMac: "52:54:00:aa:00:02", peer: null }, { name: "bmc" }],
      });
      const prefixes = (await owner.must("GET", "/api/ipam/prefixes/?prefix=10.41.0.0/24")).results as Row[];
      expect(prefixes).toMatchObject([{ custom_fields: { gateway: "10.41.0.1" } }]);
    });

    it("has no drift on the second run, and none for a node that the file leaves out", async () => {
      const before = await devices();
      expect(await apply(FILE, "--apply")).toMatchObject({ code: 0, steps: [], refused: [], notes: [] });
      expect(await apply(entry("inv1", "protected: false"), "--apply")).toMatchObject({ code: 0, steps: [] });
      expect(await devices()).toEqual(before);
    });

    it("changes what the file says, and neither status nor desired_action nor anything else", async () => {
      const { id } = await device("inv1");
      await owner.must("PATCH", `/api/dcim/devices/${id}/`, {
        status: "active",
        asset_tag: "A-17",
        custom_fields: { desired_action: "attest", dbx_hash: "x" },
      });
      const { steps } = await apply(
        entry("inv1", "status: planned", "install_disk: sda", "serial: INV-0001B"),
        "--apply",
      );
      expect(steps.map((step) => step.text)).toEqual([
        "inv1: serial: INV-0001 → INV-0001B, install_disk: nvme0n1 → sda",
      ]);
      expect(await device("inv1")).toMatchObject({
        serial: "INV-0001B",
        status: "active",
        desiredAction: "attest",
        installDisk: "sda",
        installDiskSerial: "DISK-INV1",
        shown: { dbxHash: "x" },
      });
      expect((await owner.must("GET", `/api/dcim/devices/${id}/`)).asset_tag).toBe("A-17");
    });

    it("takes what fleetctl approve prints as it is", async () => {
      const printed = `# a nodes file: for fleetctl inventory apply as it is, or to be copied into your own
nodes:
  inv2:
    approved_eks:
      - digest: ${ek("b")}
        source: "SCAN:receiving 4711"
# or by hand, for the field approved_eks of inv2 in NetBox:
# [{"digest":"${ek("b")}","source":"SCAN:receiving 4711"}]
`;
      expect((await apply(printed, "--apply")).steps).toHaveLength(1);
      expect((await device("inv2")).approvedEks).toEqual([{ digest: ek("b"), source: "SCAN:receiving 4711" }]);
      expect((await apply(printed)).steps).toEqual([]);
    });

    it("moves to a new address, and leaves the old one where it is", async () => {
      expect((await apply(entry("inv2", "address: 10.41.0.22/24"), "--apply")).code).toBe(0);
      expect((await device("inv2")).address).toBe("10.41.0.22/24");
      const old = (await owner.must("GET", "/api/ipam/ip-addresses/?address=10.41.0.12")).results as Row[];
      expect(old).toMatchObject([{ assigned_object: { name: "eth0", device: { name: "inv2" } } }]);
    });

    it("takes an address that nobody holds, and refuses one of another length", async () => {
      await owner.must("POST", "/api/ipam/ip-addresses/", { address: "10.41.0.32/24" });
      expect((await apply(entry("inv2", "address: 10.41.0.32/16"))).refused).toEqual([
        "inv2: NetBox has 10.41.0.32/24, and the file says 10.41.0.32/16",
      ]);
      const { steps } = await apply(entry("inv2", "address: 10.41.0.32/24"), "--apply");
      expect(steps.map((step) => step.do)).toEqual(["assign-address", "change-device"]);
      expect((await device("inv2")).address).toBe("10.41.0.32/24");
    });

    it.each([
      [
        "another's serial, whatever its case",
        ["serial: inv-0002"],
        /^new1: shares serial inv-0002 with inv2 \(device \d+\)$/,
      ],
      [
        "another's EK",
        ["serial: N1", `approved_eks: [{ digest: "${ek("b")}", source: "SCAN:2" }]`],
        /^new1: shares approved EK/,
      ],
      ["another's MAC", ["serial: N1", "mac: 52:54:00:aa:00:02"], /^new1: shares MAC 52:54:00:aa:00:02 with inv2/],
      [
        "another's disk",
        ["serial: N1", "install_disk_serial: disk-inv1"],
        /^new1: shares install_disk_serial disk-inv1 with inv1/,
      ],
      [
        "another's BMC",
        ["serial: N1", "bmc_address: 10.42.0.11/16"],
        /^new1: (address 10\.42\.0\.11\/16 is of|shares OOB IP 10\.42\.0\.11 with) inv1/,
      ],
      [
        "another's address",
        ["serial: N1", "address: 10.41.0.11/24"],
        /^new1: address 10\.41\.0\.11\/24 is of inv1 in NetBox$/,
      ],
      [
        "another's switch port",
        ["serial: N1", "switch_port: { device: sw-000, interface: port6 }"],
        /^new1: sw-000 port6 is taken in NetBox, by inv1 eth0$/,
      ],
      [
        "no such switch",
        ["serial: N1", "switch_port: { device: sw-999, interface: port6 }"],
        /^new1: NetBox has no device sw-999/,
      ],
      [
        "no such port",
        ["serial: N1", "switch_port: { device: sw-000, interface: port999 }"],
        /^new1: sw-000 has no interface port999/,
      ],
    ])("refuses %s, and does nothing at all", async (_what, lines, words) => {
      const before = await counts();
      const { code, refused } = await apply(whole("new1", ...lines), "--apply");
      expect(code).toBe(1);
      expect(refused).toContainEqual(expect.stringMatching(words));
      expect(await counts()).toEqual(before);
    });

    it("refuses a node that lacks what NetBox needs, places that NetBox lacks, and a name of another role", async () => {
      const text =
        "nodes:\n  new1:\n    serial: N1\n  new2: { serial: N2, site: nowhere, device_type: nothing }\n  sw-000:\n";
      expect((await apply(text, "--apply")).refused).toEqual([
        "sw-000: NetBox has a device of that name with role switch, not fleet-node",
        "new1: is not in NetBox, and without site, device_type it cannot be declared",
        "new2: NetBox has no site nowhere",
        "new2: NetBox has no device type nothing",
      ]);
    });

    it("refuses another cable and another MAC than NetBox has: only a person takes them away", async () => {
      const cable = entry("inv1", "switch_port: { device: sw-000, interface: port7 }");
      expect((await apply(cable, "--apply")).refused).toEqual([
        expect.stringMatching(/^inv1: eth0 is plugged into sw-000 port6 in NetBox, and the file says sw-000 port7/),
      ]);
      expect((await apply(entry("inv2", "mac: 52:54:00:aa:00:99"), "--apply")).refused).toEqual([
        expect.stringMatching(/^inv2: eth0 has MAC 52:54:00:aa:00:02 in NetBox/),
      ]);
    });

    it("refuses two nodes of the file that want the same", async () => {
      const like = (name: string, serial: string) =>
        `  ${name}: { site: lab, device_type: mini-800, serial: ${serial}, address: 10.41.0.77/24, switch_port: { device: sw-000, interface: port8 } }\n`;
      const { refused } = await apply(`nodes:\n${like("new1", "N1")}${like("new2", "n1")}`, "--apply");
      expect(refused).toEqual([
        "new2: switch port sw-000 port8 is new1's too in the file",
        "new2: address 10.41.0.77 is new1's too in the file",
        "new1: shares serial n1 with new2 (of the file)",
        "new2: shares serial n1 with new1 (of the file)",
      ]);
    });

    it("does the rest of a run that was cut off", async () => {
      const text = whole(
        "inv3",
        "serial: INV-0003",
        "address: 10.41.0.13/24",
        "switch_port: { device: sw-000, interface: port5 }",
      );
      await owner.must("POST", "/api/dcim/devices/", {
        ...{ name: "inv3", serial: "INV-0003", status: "planned" },
        ...{ role: { slug: "fleet-node" }, site: { slug: "lab" }, device_type: { slug: "mini-800" } },
      });
      const { code, steps } = await apply(text, "--apply");
      expect([code, steps.map((step) => step.do)]).toEqual([
        0,
        ["create-interface", "connect", "create-address", "change-device"],
      ]);
      expect((await apply(text)).steps).toEqual([]);
    });

    netboxOddNodesContract({ apply, device, entry, whole, counts, owner: () => owner });
  });
}
