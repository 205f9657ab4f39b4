import { expect, test } from "vitest";
import { type LldpFrame, readLldpFrame, writeLldpFrame } from "../../../../shared/formats/lldp/frame.ts";
import { refusedAs } from "../five-parts.ts";

// Written by hand from IEEE 802.1AB-2016, 8.5: the shape that lldpd and most switches send.
const wire = Uint8Array.from([
  ...[0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 0x52, 0x54, 0x00, 0x12, 0x34, 0x56, 0x88, 0xcc],
  ...[0x02, 0x07, 0x04, 0x52, 0x54, 0x00, 0x12, 0x34, 0x56],
  ...[0x04, 0x05, 0x05, ...new TextEncoder().encode("swp7")],
  ...[0x06, 0x02, 0x00, 0x78],
  ...[0x08, 0x06, ...new TextEncoder().encode("node-7")],
  ...[0x0a, 0x07, ...new TextEncoder().encode("switch1")],
  ...[0xfe, 0x06, 0x00, 0x80, 0xc2, 0x01, 0x00, 0x01],
  ...[0x00, 0x00],
]);
const value: LldpFrame = {
  sourceMac: "52:54:00:12:34:56",
  chassisId: { subtype: 4, text: "52:54:00:12:34:56" },
  portId: { subtype: 5, text: "swp7" },
  ttlSeconds: 120,
  portDescription: "node-7",
  systemName: "switch1",
};

test("every field of a frame", () => expect(readLldpFrame(wire)).toEqual(value));

test("every prefix is refused", () => {
  for (let length = 0; length < wire.length; length++) {
    expect(
      refusedAs(() => readLldpFrame(wire.subarray(0, length))),
      `${length} bytes`,
    ).not.toBe("accepted");
  }
});

test("what stands behind the End TLV is padding", () => {
  expect(readLldpFrame(Uint8Array.from([...wire, 0, 0, 0]))).toEqual(value);
});

test("a VLAN tag is stepped over", () => {
  const tagged = Uint8Array.from([...wire.subarray(0, 12), 0x81, 0x00, 0x00, 0x05, ...wire.subarray(12)]);
  expect(readLldpFrame(tagged)).toEqual(value);
});

test("what is written is read as the same, whatever kinds of names it has", () => {
  const frames: LldpFrame[] = [
    value,
    { ...value, portDescription: null, systemName: null },
    { ...value, portId: { subtype: 3, text: "02:00:00:00:00:01" }, chassisId: { subtype: 7, text: "rack 4" } },
    { ...value, portId: { subtype: 4, text: "192.0.2.7" }, chassisId: { subtype: 5, text: "02fe80" } },
  ];
  for (const frame of frames) {
    expect(readLldpFrame(writeLldpFrame(frame))).toEqual(frame);
    expect(writeLldpFrame(frame).length).toBeGreaterThanOrEqual(60);
  }
});

test("frames that are none", () => {
  const changed = (at: number, ...octets: number[]): Uint8Array => {
    const bytes = wire.slice();
    bytes.set(octets, at);
    return bytes;
  };
  const withTlv = (...octets: number[]) => Uint8Array.from([...wire.subarray(0, -2), ...octets, 0, 0]);
  expect(refusedAs(() => readLldpFrame(changed(12, 0x08, 0x00)))).toBe("unknown-value");
  expect(refusedAs(() => readLldpFrame(changed(14, 0x04)))).toBe("inconsistent");
  expect(refusedAs(() => readLldpFrame(changed(15, 0xff)))).not.toBe("accepted");
  expect(refusedAs(() => readLldpFrame(withTlv(0x0a, 0x01, 0x41)))).toBe("inconsistent");
  expect(refusedAs(() => readLldpFrame(withTlv(0x06, 0x02, 0, 1)))).toBe("inconsistent");
  expect(refusedAs(() => writeLldpFrame({ ...value, sourceMac: "52:54" }))).toBe("unknown-value");
  expect(refusedAs(() => writeLldpFrame({ ...value, systemName: "x".repeat(600) }))).toBe("out-of-bounds");
});
