import { createHash } from "node:crypto";

/** A seeded generator (sfc32): the same seed gives the same numbers, on any machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(seed: number) {
    const words = createHash("sha256").update(`fleetd simulation ${seed}`).digest();
    this.#a = words.readUInt32LE(0);
    this.#b = words.readUInt32LE(4);
    this.#c = words.readUInt32LE(8);
    for (let n = 0; n < 12; n++) this.next();
  }

  /** 32 bits. */
  next(): number {
    const sum = (this.#a + this.#b + this.#d) >>> 0;
    this.#d = (this.#d + 1) >>> 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0;
    return sum;
  }

  below(bound: number): number {
    return Math.floor((this.next() / 0x1_0000_0000) * bound);
  }

  chance(probability: number): boolean {
    return this.next() / 0x1_0000_0000 < probability;
  }

  pick<T>(list: readonly T[]): T {
    return at(list, this.below(list.length));
  }

  /** One of the values, each as often as its weight says. */
  weighted<T>(list: readonly (readonly [T, number])[]): T {
    let left = (this.next() / 0x1_0000_0000) * list.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of list) {
      left -= weight;
      if (left < 0) return value;
    }
    return at(list, list.length - 1)[0];
  }
}

/** The n-th of a list, counted round. */
export function at<T>(list: readonly T[], n: number): T {
  const value = list[n % list.length];
  if (value === undefined) throw new Error("an empty list");
  return value;
}

/** Bytes that a label alone decides: what a task draws depends on nobody else's draws. */
export function bytesOf(label: string, count: number): Uint8Array {
  const parts: Buffer[] = [];
  for (let n = 0; n * 32 < count; n++) parts.push(createHash("sha256").update(`${label} ${n}`).digest());
  return new Uint8Array(Buffer.concat(parts).subarray(0, count));
}

/** The value with all below it made unchangeable: who reads a peer may not write to it. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) frozen(part);
  }
  return value;
}
