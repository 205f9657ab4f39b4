import { decode, encode, rest, struct, u16be } from "../codec.ts";
import { withoutTrailingZeros } from "../cursor.ts";
import { FormatError } from "../error.ts";

/** An identifier with the kind of name it is. */
export interface LldpId {
  readonly subtype: number;
  /** A MAC address in lower-case hex with colons, an address in dotted or hex form, or the text itself. */
  readonly text: string;
}

/** What a switch says of the port that a cable ends in. */
export interface LldpFrame {
  readonly sourceMac: string;
  readonly chassisId: LldpId;
  readonly portId: LldpId;
  readonly ttlSeconds: number;
  readonly portDescription: string | null;
  readonly systemName: string | null;
}

/** TLV types. @see IEEE 802.1AB-2016, table 8-1 */
const TLV = { END: 0, CHASSIS_ID: 1, PORT_ID: 2, TTL: 3, PORT_DESCRIPTION: 4, SYSTEM_NAME: 5 } as const;

const CHASSIS_MAC = 4;
const CHASSIS_ADDRESS = 5;
const PORT_MAC = 3;
const PORT_ADDRESS = 4;

const ETHERTYPE_LLDP = 0x88cc;
const ETHERTYPE_VLAN = 0x8100;
const HEADER_BYTES = 14;
const DESTINATION = Uint8Array.of(0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e);

const TLV_HEAD = struct({ head: u16be, rest });

interface Tlv {
  readonly type: number;
  readonly value: Uint8Array;
  readonly offset: number;
}

/**
 * Reads a whole Ethernet frame: the three mandatory TLVs first and in order, then the others to the End TLV. What
 * stands behind that is padding, which the standard says to ignore.
 * @throws FormatError
 * @see IEEE 802.1AB-2016, 8.2 and 9.2.7
 */
export function readLldpFrame(frame: Uint8Array): LldpFrame {
  const name = "LLDP frame";
  if (frame.length < HEADER_BYTES + 2) throw new FormatError("truncated", name, frame.length);
  const tagged = uint16(frame, 12) === ETHERTYPE_VLAN;
  const start = HEADER_BYTES + (tagged ? 4 : 0);
  if (uint16(frame, start - 2) !== ETHERTYPE_LLDP) throw new FormatError("unknown-value", name, start - 2, "EtherType");
  const tlvs = readTlvs(frame, start);
  const [chassis, port, ttl, ...others] = tlvs;
  const once = (type: number): Tlv | null => {
    const found = others.filter((one) => one.type === type);
    if (found.length > 1) throw new FormatError("inconsistent", name, found[1]?.offset ?? 0, `TLV ${type} twice`);
    return found[0] ?? null;
  };
  const mandatory = [chassis, port, ttl].map((one) => one?.type).join();
  if (mandatory !== [TLV.CHASSIS_ID, TLV.PORT_ID, TLV.TTL].join() || !chassis || !port || !ttl) {
    throw new FormatError("inconsistent", name, start, "chassis id, port id and TTL come first");
  }
  for (const type of [TLV.CHASSIS_ID, TLV.PORT_ID, TLV.TTL]) {
    if (once(type)) throw new FormatError("inconsistent", name, start, `TLV ${type} twice`);
  }
  if (ttl.value.length < 2) throw new FormatError("truncated", name, ttl.offset, "TTL");
  const description = once(TLV.PORT_DESCRIPTION);
  const systemName = once(TLV.SYSTEM_NAME);
  return {
    sourceMac: macText(frame.subarray(6, 12)),
    chassisId: readId(chassis, CHASSIS_MAC, CHASSIS_ADDRESS),
    portId: readId(port, PORT_MAC, PORT_ADDRESS),
    ttlSeconds: uint16(ttl.value, 0),
    portDescription: description && textOf(description.value),
    systemName: systemName && textOf(systemName.value),
  };
}

/**
 * Writes a frame as a switch sends it, padded to Ethernet's 60 bytes.
 * @throws FormatError when an identifier is longer than its TLV
 */
export function writeLldpFrame(frame: LldpFrame): Uint8Array {
  const parts = [
    DESTINATION,
    macBytes(frame.sourceMac),
    encode(u16be, ETHERTYPE_LLDP),
    tlv(TLV.CHASSIS_ID, idBytes(frame.chassisId, CHASSIS_MAC, CHASSIS_ADDRESS)),
    tlv(TLV.PORT_ID, idBytes(frame.portId, PORT_MAC, PORT_ADDRESS)),
    tlv(TLV.TTL, encode(u16be, frame.ttlSeconds)),
  ];
  const utf8 = new TextEncoder();
  if (frame.portDescription !== null) parts.push(tlv(TLV.PORT_DESCRIPTION, utf8.encode(frame.portDescription)));
  if (frame.systemName !== null) parts.push(tlv(TLV.SYSTEM_NAME, utf8.encode(frame.systemName)));
  parts.push(tlv(TLV.END, new Uint8Array(0)));
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(Math.max(60, length));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function readTlvs(frame: Uint8Array, start: number): Tlv[] {
  const tlvs: Tlv[] = [];
  for (let offset = start; ; ) {
    const { head, rest: after } = decode(TLV_HEAD, frame.subarray(offset), "LLDP TLV");
    const type = head >> 9;
    const length = head & 0x1ff;
    if (length > after.length) throw new FormatError("truncated", "LLDP TLV", offset, `${length} bytes wanted`);
    if (type === TLV.END) {
      if (length !== 0) throw new FormatError("inconsistent", "LLDP TLV", offset, "an End TLV with contents");
      return tlvs;
    }
    tlvs.push({ type, value: after.subarray(0, length), offset });
    offset += 2 + length;
  }
}

function readId({ value, offset }: Tlv, mac: number, address: number): LldpId {
  const [subtype] = value;
  if (subtype === undefined || value.length < 2 || value.length > 256) {
    throw new FormatError("out-of-bounds", "LLDP id", offset, `${value.length} bytes`);
  }
  const id = value.subarray(1);
  if (subtype === mac) {
    if (id.length !== 6) throw new FormatError("out-of-bounds", "LLDP id", offset, "a MAC address of another length");
    return { subtype, text: macText(id) };
  }
  // IANA address family, then the address; only IPv4 has a form of its own.
  if (subtype === address)
    return { subtype, text: id[0] === 1 && id.length === 5 ? id.subarray(1).join(".") : hexText(id) };
  return { subtype, text: textOf(id) };
}

function idBytes(id: LldpId, mac: number, address: number): Uint8Array {
  const { subtype, text } = id;
  const utf8 = new TextEncoder().encode(text);
  const value = subtype === mac ? macBytes(text) : subtype === address ? addressBytes(text) : utf8;
  const bytes = new Uint8Array(1 + value.length);
  bytes[0] = subtype;
  bytes.set(value, 1);
  return bytes;
}

function tlv(type: number, value: Uint8Array): Uint8Array {
  if (value.length > 511) throw new FormatError("out-of-bounds", "LLDP TLV", 0, `${value.length} bytes`);
  return encode(TLV_HEAD, { head: (type << 9) | value.length, rest: value });
}

function addressBytes(text: string): Uint8Array {
  if (text.includes(".")) return Uint8Array.from([1, ...text.split(".").map(Number)]);
  return Uint8Array.from(text.match(/../g) ?? [], (octet) => Number.parseInt(octet, 16));
}

function macBytes(text: string): Uint8Array {
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(text)) throw new FormatError("unknown-value", "MAC address", 0, text);
  return Uint8Array.from(text.split(":"), (octet) => Number.parseInt(octet, 16));
}

function macText(bytes: Uint8Array): string {
  return Array.from(bytes, (octet) => octet.toString(16).padStart(2, "0")).join(":");
}

function hexText(bytes: Uint8Array): string {
  return Array.from(bytes, (octet) => octet.toString(16).padStart(2, "0")).join("");
}

// A name that is no UTF-8 is none that the inventory could hold: it is read as replacement characters.
function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(withoutTrailingZeros(bytes));
}

function uint16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
}
