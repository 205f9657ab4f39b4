import { describe, expect, it } from "vitest";
import { parseEkBindings } from "../../../shared/fleet/binding.ts";
import {
  type Bound,
  conflictIn,
  inventoryIndex,
  isName,
  isSerial,
  isUuid,
  namesakesIn,
} from "../../../shared/fleet/conflicts.ts";
import type { Device } from "../../../shared/fleet/device.ts";
import { isoTime } from "../../../shared/fleet/moment.ts";
import { inNetworks } from "../../../shared/fleet/networks.ts";
import { aDevice } from "../../scenarios/fixtures.ts";

/** Device id → what it shares, of those that share something. */
function inventoryConflicts(devices: readonly Device[], bound: ReadonlyMap<number, Bound>): Map<number, string> {
  const index = inventoryIndex(devices, bound);
  const found = devices.map((d) => [d.id, conflictIn(index, d, bound.get(d.id)?.uuid ?? null)] as const);
  return new Map(found.flatMap(([id, text]) => (text === null ? [] : [[id, text] as const])));
}

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("inventory-conflict (spec/00: what two devices of the role share makes all of them wait)", () => {
  const other = {
    ...aDevice(),
    id: 8,
    name: "w2",
    serial: "SN0002",
    installDiskSerial: "D2",
    oobAddress: "10.9.0.8",
    approvedEks: [],
    interfaces: [],
  };
  it.each([
    ["name", { name: "w1" }],
    ["serial", { serial: "sn0001" }],
    ["approved EK", { approvedEks: [{ digest: DIGEST, source: "SCAN:2" }] }],
    ["MAC", { interfaces: aDevice().interfaces }],
    ["OOB IP", { oobAddress: "10.9.0.7" }],
    ["install_disk_serial", { installDiskSerial: "S4XYNX0R123456" }],
  ])("%s", (kind, change) => {
    const found = inventoryConflicts([aDevice(), { ...other, ...change }], new Map());
    expect([...found.keys()]).toEqual([7, 8]);
    expect(found.get(7)).toContain(kind);
    expect(found.get(7)).toContain("(device 8)");
  });

  it("a UUID from the records", () => {
    const uuids = new Map([
      [7, { uuid: "u", node: null }],
      [8, { uuid: "u", node: null }],
    ]);
    expect([...inventoryConflicts([aDevice(), other], uuids).keys()]).toEqual([7, 8]);
  });

  it("whose name an offline device has, too, it is told", () => {
    const index = inventoryIndex(
      [
        { ...aDevice(), status: "offline" },
        { ...other, name: "w1" },
      ],
      new Map(),
    );
    expect([namesakesIn(index, aDevice()), namesakesIn(index, { id: 8, name: "w1" })]).toEqual(["w1 (device 8)", null]);
  });

  it("leaves offline devices aside, and devices that share nothing", () => {
    expect(inventoryConflicts([aDevice(), { ...other, serial: "SN0001", status: "offline" }], new Map()).size).toBe(0);
    expect(inventoryConflicts([aDevice(), other], new Map()).size).toBe(0);
  });
});

describe("values that name a machine", () => {
  it.each([
    "",
    " ",
    "0",
    "0000000",
    "To Be Filled By O.E.M.",
    "Default string",
    "None",
    "FFFFFFFF",
    "a b",
    "x".repeat(65),
    'S"1',
  ])("no serial: %j", (s) => expect(isSerial(s)).toBe(false));
  it.each(["5CD1234XYZ", "SN-0001", "ABC.1_2"])("a serial: %s", (s) => expect(isSerial(s)).toBe(true));
  it.each([
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "03000200-0400-0500-0006-000700080009",
    "x",
    "4C4C4544-0000-4000-8000-000000000001",
  ])("no UUID: %s", (u) => expect(isUuid(u)).toBe(false));
  it("a UUID", () => expect(isUuid("4c4c4544-0032-4710-8051-b4c04f4e3532")).toBe(true));
  it.each([
    ["w1", true],
    ["-w", false],
    ["w-", false],
    ["W1", false],
    ["w".repeat(41), false],
    ["w.1", false],
  ])("name %s: %s", (name, ok) => expect(isName(name)).toBe(ok));
});

describe("approved_eks (spec/00: empty, malformed or without a source is no binding)", () => {
  it.each([
    ["null", null],
    ["empty", []],
    ["no source", [{ digest: DIGEST }]],
    ["blank source", [{ digest: DIGEST, source: " " }]],
    ["upper-case digest", [{ digest: DIGEST.toUpperCase(), source: "SCAN:1" }]],
    [
      "one good and one bad",
      [
        { digest: DIGEST, source: "SCAN:1" },
        { digest: "x", source: "SCAN:1" },
      ],
    ],
    [
      "the same twice",
      [
        { digest: DIGEST, source: "SCAN:1" },
        { digest: DIGEST, source: "SCAN:2" },
      ],
    ],
    ["an object", { digest: DIGEST, source: "SCAN:1" }],
  ])("%s", (_what, value) => expect(parseEkBindings(value)).toEqual([]));
  it("reads what is right", () =>
    expect(parseEkBindings([{ digest: DIGEST, source: "SUPPLIER:42", note: "ignored" }])).toEqual([
      { digest: DIGEST, source: "SUPPLIER:42" },
    ]));
});

describe("FLEET_BMC_NETWORKS", () => {
  it.each([
    ["10.9.0.7", ["10.9.0.0/16"], true],
    ["10.10.0.7", ["10.9.0.0/16"], false],
    ["10.9.0.7", ["0.0.0.0/0"], true],
    ["10.9.0.7", [], false],
    ["fd00::7", ["fd00::/64"], true],
    ["fd00:0:0:1::7", ["fd00::/64"], false],
    ["10.9.0.7", ["fd00::/8"], false],
    ["evil.example", ["0.0.0.0/0"], false],
    ["10.9.0.256", ["0.0.0.0/0"], false],
    ["10.9.0.7", ["10.9.0.0/33"], false],
    ["10.9.0.7", ["10.9.0.0"], false],
  ])("%s in %j: %s", (address, networks, inside) => expect(inNetworks(address, networks)).toBe(inside));
});

describe("isoTime", () => {
  it.each([0, 1_000, 951_782_400_123, 1_795_987_668_052, 4_102_444_799_999, 68_169_599_999])(
    "%d as Date prints it",
    (ms) => expect(isoTime(ms)).toBe(new Date(ms).toISOString()),
  );
});
