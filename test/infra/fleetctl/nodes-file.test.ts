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
    ["nodes:\n  w1: {}\n  w1: {}\n", /^1\.yaml:3: Map keys must be unique/],
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
    ["- w1\n", /^1\.yaml:1: the file: /],
    ["nodes: [\n", /^1\.yaml:\d: /],
  ])("%j is told of", (text, words) => {
    const found = faults(text);
    expect(found).toEqual([words instanceof RegExp ? expect.stringMatching(words) : words]);
  });

  test("every fault at once", () => {
    expect(faults("nodes:\n  w1:\n    serial: 1\n    mac: x\n", "what: 1\n")).toHaveLength(3);
  });
});
