import { mutated, mutatedJson } from "./mutate.ts";
import { Random } from "./random.ts";
import { withDigests } from "./written-log.ts";

/** Longer inputs find nothing that shorter ones do not, and are slow. */
const MAX_INPUT_BYTES = 6144;
const JSON_TARGETS: readonly string[] = ["bundle", "profile", "report"];

export interface LoopOptions {
  readonly target: string;
  readonly run: (bytes: Uint8Array) => void;
  readonly counts: Uint8Array;
  readonly seeds: readonly Uint8Array[];
  readonly random: Random;
}

/** A broken promise, with the bytes that break it. */
export interface Finding {
  readonly bytes: Uint8Array;
  readonly error: unknown;
}

/** Mutates inputs, and keeps those that go where none went before. */
export class Loop {
  readonly findings: Finding[] = [];
  runs = 0;
  // How often a place was passed, in steps: once, twice, a few times, often.
  private step = (count: number): number => (count < 4 ? count : count < 8 ? 4 : count < 32 ? 5 : count < 128 ? 6 : 7);
  private readonly options: LoopOptions;
  private readonly seen: Uint8Array;
  private readonly kept: Uint8Array[] = [];

  constructor(options: LoopOptions) {
    this.options = options;
    this.seen = new Uint8Array(options.counts.length);
    for (const seed of options.seeds) this.run(seed);
    if (this.kept.length === 0) this.kept.push(new Uint8Array(0));
  }

  /** One mutation of one kept input. */
  turn(): void {
    const { random, target } = this.options;
    const { kept } = this;
    // New ones are tried more often: what they reached is least known.
    const recent = kept[Math.max(0, kept.length - 1 - random.below(8))];
    const from = random.below(3) === 0 && recent ? recent : random.of(kept);
    const json = JSON_TARGETS.includes(target) && random.below(3) > 0;
    let next = json ? mutatedJson(from, random, kept) : mutated(from, random, kept);
    if (target === "boot" && random.below(2) === 0) next = withDigests(next);
    this.run(next.subarray(0, MAX_INPUT_BYTES).slice());
  }

  /** Few inputs that go wherever the kept ones go, however often: the shortest first. */
  minimised(): Uint8Array[] {
    this.seen.fill(0);
    this.step = (count) => Math.min(count, 1);
    const all = this.kept.splice(0).sort((a, b) => a.length - b.length);
    for (const input of all) this.run(input);
    return [...this.kept];
  }

  get inputs(): number {
    return this.kept.length;
  }

  private run(bytes: Uint8Array): void {
    const { counts, run } = this.options;
    counts.fill(0);
    this.runs++;
    try {
      run(bytes);
    } catch (error) {
      if (this.findings.length < 20) this.findings.push({ bytes, error });
      return;
    }
    let isNew = false;
    for (let place = 0; place < counts.length; place++) {
      const count = counts[place] ?? 0;
      if (count === 0) continue;
      const bit = 1 << this.step(count);
      const before = this.seen[place] ?? 0;
      if ((before & bit) !== 0) continue;
      this.seen[place] = before | bit;
      isNew = true;
    }
    if (isNew) this.kept.push(bytes);
  }
}

/** A loop's chance, one for each target of a run. */
export const chanceOf = (seed: number, target: string): Random =>
  new Random([...target].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed));
