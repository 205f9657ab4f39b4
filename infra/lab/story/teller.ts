import type { Writable } from "node:stream";

export type Source = "journal" | "condition" | "event" | "lab";

export interface Line {
  readonly at: string;
  readonly device: string;
  readonly source: Source;
  readonly kind: string;
  readonly code: string;
  readonly text: string;
}

/** Steps that a reader wants to see; the others are in the JSON lines. */
const SHOWN_EVENTS = new Set([
  "create-workflow",
  "create-job",
  "enable-workflow",
  "approve-csr",
  "delete-token",
  "delete-node",
  "evict",
  "tink-attest",
  "kubelet",
  "boot",
]);

/** Tells the story as it happens: a line at a time, for people or as JSON lines. */
export class Teller {
  readonly #out: Writable;
  readonly #json: boolean;
  readonly lines: Line[] = [];

  constructor(out: Writable, json: boolean) {
    this.#out = out;
    this.#json = json;
  }

  tell(line: Omit<Line, "at"> & { readonly at?: string }): void {
    const { at = new Date().toISOString(), device, source, kind, code, text } = line;
    const whole: Line = { at, device, source, kind, code, text };
    this.lines.push(whole);
    if (this.#json) this.#out.write(`${JSON.stringify(whole)}\n`);
    else if (source !== "event" || SHOWN_EVENTS.has(kind)) this.#out.write(`${this.#human(whole)}\n`);
  }

  /** A heading for people; programs do not need it. */
  chapter(title: string): void {
    if (!this.#json) this.#out.write(`\n${title}\n`);
  }

  note(text: string): void {
    if (!this.#json) this.#out.write(`${text}\n`);
  }

  result(ok: boolean, failed: readonly string[]): void {
    if (this.#json) this.#out.write(`${JSON.stringify({ source: "result", ok, failed })}\n`);
    else if (ok) this.#out.write("\nThe story went as it should.\n");
    else this.#out.write(`\nThe story went wrong:\n${failed.map((f) => `  ${f}\n`).join("")}`);
  }

  #human({ at, device, source, kind, code, text }: Line): string {
    const who =
      source === "lab" ? "" : source === "journal" ? `journal ${kind}` : source === "condition" ? "waits" : kind;
    const what = source === "condition" ? `${text} (${code})` : text;
    return `  ${at.slice(11, 19)}  ${device.padEnd(10)} ${who.padEnd(16)} ${what}`;
  }
}
