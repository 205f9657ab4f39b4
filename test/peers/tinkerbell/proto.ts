/** The two wire types of protobuf that the Tink server's messages are made of. */
const VARINT = 0;
const LENGTH = 2;

export type Field = readonly [number: number, value: string | bigint | Uint8Array];

/** Fields by their numbers, each as often as it came. */
export type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Writes a message; what is empty is left out, as protobuf's writers do. */
export function writeMessage(fields: readonly Field[]): Buffer {
  const parts = fields.flatMap(([number, value]) => {
    if (typeof value === "bigint") return value === 0n ? [] : [varint(BigInt(number * 8 + VARINT)), varint(value)];
    const bytes = Buffer.from(value);
    if (bytes.length === 0) return [];
    return [varint(BigInt(number * 8 + LENGTH)), varint(BigInt(bytes.length)), bytes];
  });
  return Buffer.concat(parts);
}

/** Reads a message. @throws Error for another wire type, or where it ends too early */
export function readMessage(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let offset = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(bytes.readUInt8(offset++));
      value |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) return value;
    }
  };
  while (offset < bytes.length) {
    const key = Number(next());
    const kind = key % 8;
    if (kind !== VARINT && kind !== LENGTH) throw new Error(`protobuf: wire type ${kind}`);
    let value: bigint | Buffer = next();
    if (kind === LENGTH) {
      const end = offset + Number(value);
      if (end > bytes.length) throw new Error("protobuf: truncated");
      value = bytes.subarray(offset, end);
      offset = end;
    }
    const number = Math.floor(key / 8);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

export function textsOf(fields: Fields, number: number): string[] {
  return (fields.get(number) ?? []).map((value) => (typeof value === "bigint" ? "" : value.toString()));
}

export function textOf(fields: Fields, number: number): string {
  return textsOf(fields, number).at(-1) ?? "";
}

export function numberOf(fields: Fields, number: number): number {
  const value = fields.get(number)?.at(-1);
  return typeof value === "bigint" ? Number(value) : 0;
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 0x80n) return Buffer.from([...bytes, low]);
    bytes.push(low | 0x80);
  }
}
