import { describe, expect, test } from "vitest";
import { readNodes } from "../../../infra/fleetctl/inventory/nodes-file.ts";

const EK = `sha256:${"a".repeat(64)}`;
const read = (...texts: string[]) => readNodes(texts.map((text, i) => ({ name: `${i + 1}.yaml`, text })));
const faults = (...texts: string[]) => {
  const result = read(...texts);
  return result.ok ? [] : result.faults;
};

describe("a nodes file", () => {
  test("with defaults, which a node's own word goes before", () => {
    const text = `
defaults: { site: lab, install_disk: nvme0n1, protected: true }
prefixes:
  10.20.0.0/24: { gateway: 10.20.0.1 }
  10.21.0.0/24:
nodes:
  w1:
    serial: W1-0001
    mac: 52-54-00-AA-00-01
    protected: false
  w2:
`;
    const result = read(text);
    expect(result).toMatchObject({ ok: true });
    if (!result.ok) return;
    expect([...result.prefixes]).toEqual([
      ["10.20.0.0/24", "10.20.0.1"],
      ["10.21.0.0/24", null],
    ]);
    expect([...result.nodes]).toEqual([
      ["w1", { site: "lab", install_disk: "nvme0n1", protected: false, serial: "W1-0001", mac: "52:54:00:aa:00:01" }],
      ["w2", { site: "lab", install_disk: "nvme0n1", protected: true }],
    ]);
  });

  test("several are one: an entry may be spread over them, each key once", () => {
    const keys = `nodes:\n  w1:\n    approved_eks: [{ digest: "${EK}", source: "SCAN:1" }]\n`;
    const result = read("nodes:\n  w1:\n    serial: W1\n", keys);
    expect(result.ok && result.nodes.get("w1")).toEqual({
      serial: "W1",
      approved_eks: [{ digest: EK, source: "SCAN:1" }],
    });
    expect(faults(keys, keys)).toEqual(["2.yaml:3: node w1: approved_eks is given twice"]);
  });

  test("an empty one names nobody", () => {
    expect(read("")).toMatchObject({ ok: true, nodes: new Map() });
  });

  test.each([
    ["nodes:\n  w1:\n    serial: 12345\n", "1.yaml:3: node w1: serial: must be text: put it in quotes"],
    ["nodes:\n  w1:\n    serial: To Be Filled By O.E.M.\n", /^1\.yaml:3: node w1: serial: is no serial of a machine/],
    ["nodes:\n  w1:\n    serial: W1\n    status: offline\n", /^1\.yaml:4: node w1: status: must be planned, active/],
    ["nodes:\n  w1:\n    desired_action: wipe\n", "1.yaml:3: node w1: desired_action: is no key of this file"],
    ["nodes:\n  W_1:\n    serial: W1\n", /^1\.yaml:2: node W_1: is no DNS label/],
    ["nodes:\n  w1: {}\n  w1: {}\n", "1.yaml:3: the file: has a key twice"],
    ["nodes:\n  w1:\n    address: 10.0.0.1\n", /^1\.yaml:3: node w1: address: needs its prefix length/],
    ["nodes:\n  w1:\n    address: 10.0.0.1/33\n", "1.yaml:3: node w1: address: is no address"],
    ["nodes:\n  w1:\n    mac: 52:54:00\n", /^1\.yaml:3: node w1: mac: is no MAC address/],
    ["nodes:\n  w1:\n    install_disk: /dev/sda\n", /^1\.yaml:3: node w1: install_disk: is no kernel name/],
    ["nodes:\n  w1:\n    protected: yes\n", "1.yaml:3: node w1: protected: must be true or false"],
    ["nodes:\n  w1:\n    switch_port: { device: sw }\n", "1.yaml:3: node w1: switch_port.interface: is missing"],
    [
      `nodes:\n  w1:\n    approved_eks:\n      - digest: ${EK}\n        source: "SCAN:1"\n      - digest: sha256:12\n        source: x\n`,
      "1.yaml:6: node w1: approved_eks.1.digest: is not sha256:<64 hex, lower case>",
    ],
    [
      `nodes:\n  w1:\n    approved_eks:\n      - digest: ${EK}\n`,
      "1.yaml:4: node w1: approved_eks.0.source: is missing",
    ],
    ["nodes:\n  w1:\n    approved_eks: []\n", /^1\.yaml:3: node w1: approved_eks: is empty/],
    ["defaults:\n  serial: W1\n", "1.yaml:2: defaults.serial: is no key of this file"],
    ["prefixes:\n  10.0.0.0: {}\n", /^1\.yaml:2: prefix 10\.0\.0\.0: needs its prefix length/],
    ["prefixes:\n  10.0.0.5/24: {}\n", /^1\.yaml:2: prefix 10\.0\.0\.5\/24: has host bits/],
    ["- w1\n", "1.yaml:1: the file: must be keys with their values"],
    ["nodes: [\n", /^1\.yaml:\d: /],
    ["nodes:\n  007:\n    serial: W1\n", "1.yaml:2: node 007: must be text: put it in quotes"],
    ["nodes:\n  1e3: {}\n", "1.yaml:2: node 1e3: must be text: put it in quotes"],
    ["nodes:\n  null: {}\n", "1.yaml:2: node null: must be text: put it in quotes"],
    [
      'nodes:\n  7: { protected: true }\n  "7": { protected: false }\n',
      "1.yaml:2: node 7: must be text: put it in quotes",
    ],
    ["nodes:\n  ? [w1]\n  : {}\n", "1.yaml:2: nodes: has a key that is no text"],
    ["nodes:\n  __proto__: { serial: W1 }\n", "1.yaml:2: node __proto__: is no name"],
    ["prefixes: { __proto__: null }\n", "1.yaml:1: prefix __proto__: is no name"],
    [
      "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n",
      "1.yaml:2: the file: has aliases (*…) that unfold to too much: write it out, or use defaults",
    ],
    ["nodes: *none\n", "1.yaml:1: nodes: has an alias *none of nothing above it"],
    ["nodes: &n\n  w1: *n\n", "1.yaml:2: node w1: w1: is no key of this file"],
    ["nodes:\n  w1: &a { serial: W1 }\n  w2:\n    <<: *a\n", /^1\.yaml:4: node w2: has a merge key/],
    ["nodes:\n  w1: !foo { serial: W1 }\n", /^1\.yaml:2: the file: has a tag/],
    ["nodes:\n", "1.yaml:1: nodes: must be keys with their values"],
    ["nodes: {}\n---\nnodes: {}\n", /^1\.yaml:2: the file: is a second document/],
    ['nodes:\n  w1:\n    serial: " W1 "\n', /^1\.yaml:3: node w1: serial: is no serial/],
    [`nodes:\n  w1:\n    serial: ${"S".repeat(51)}\n`, /^1\.yaml:3: node w1: serial: is longer/],
    ["nodes:\n  w1:\n    bmc_type: redfihs\n", "1.yaml:3: node w1: bmc_type: must be amt, ipmi, redfish or rpc"],
    ["nodes:\n  w1:\n    interface_type: nonsense\n", /^1\.yaml:3: node w1: interface_type: must be 100base-tx/],
    ["nodes:\n  w1:\n    address: 10.0.0.1/024\n", "1.yaml:3: node w1: address: is no address"],
    ["nodes:\n  w1:\n    address: 10.0.0.1/24/9\n", "1.yaml:3: node w1: address: is no address"],
    ["nodes:\n  w1:\n    address: fe80::1%eth0/64\n", "1.yaml:3: node w1: address: is no address"],
    ["nodes:\n  w1:\n    address: ::ffff:10.0.0.1/120\n", "1.yaml:3: node w1: address: is no address"],
    ["nodes:\n  w1:\n    address: 10.0.0.0/24\n", /^1\.yaml:3: node w1: address: is the network's own/],
    ["nodes:\n  w1:\n    bmc_address: 10.0.0.255/24\n", /^1\.yaml:3: node w1: bmc_address: is the network's own/],
    ["nodes:\n  w1:\n    address: 2001:db8::/64\n", /^1\.yaml:3: node w1: address: is the network's own/],
    ["nodes:\n  w1:\n    mac: ff:ff:ff:ff:ff:ff\n", "1.yaml:3: node w1: mac: is no MAC address of a machine"],
    ['nodes:\n  w1:\n    mac: "00:00:00:00:00:00"\n', "1.yaml:3: node w1: mac: is no MAC address of a machine"],
    ["prefixes:\n  10.0.0.0/16/9: {}\n", "1.yaml:2: prefix 10.0.0.0/16/9: is no address"],
    ["prefixes:\n  2001:db8::5/64: {}\n", /^1\.yaml:2: prefix 2001:db8::5\/64: has host bits/],
    ["prefixes:\n  2001:db8::/64: {}\n  2001:DB8:0::/64: {}\n", "1.yaml:3: prefix 2001:db8::/64 is given twice"],
  ])("%j is told of", (text, words) => {
    const found = faults(text);
    expect(found).toEqual([words instanceof RegExp ? expect.stringMatching(words) : words]);
  });

  test("addresses and prefixes are read as NetBox writes them", () => {
    const result = read(
      "prefixes: { 2001:DB8:0::/64: { gateway: 2001:db8:0:0::1 } }\nnodes:\n  w1: { address: 2001:DB8:0:0::5/64, bmc_address: 2001:db8::0:6 }\n  w2: { address: 10.0.0.0/31 }\n",
    );
    expect(result.ok && [[...result.prefixes], result.nodes.get("w1"), result.nodes.get("w2")]).toEqual([
      [["2001:db8::/64", "2001:db8::1"]],
      { address: "2001:db8::5/64", bmc_address: "2001:db8::6" },
      { address: "10.0.0.0/31" },
    ]);
  });

  test("defaults of two files for one node: the node's own word goes before in whatever order, else they may not contradict", () => {
    const [a, b] = [
      "defaults: { protected: true }\nnodes: { w1: }\n",
      "defaults: { protected: false }\nnodes: { w1: }\n",
    ];
    expect(faults(a, b)).toEqual([
      "2.yaml:1: node w1: the defaults here say protected false, those of 1.yaml true: let the node say it",
    ]);
    expect(faults(b, a)).toHaveLength(1);
    expect(faults(a, a)).toEqual([]);
    const own = "nodes: { w1: { protected: false } }\n";
    for (const texts of [
      [a, own],
      [own, a],
      [a, b, own],
      [own, b, a],
    ]) {
      const result = read(...texts);
      expect(result.ok && result.nodes.get("w1")).toEqual({ protected: false });
    }
  });

  test("every fault at once", () => {
    expect(faults("nodes:\n  w1:\n    serial: 1\n    mac: x\n", "what: 1\n")).toHaveLength(3);
  });
});
