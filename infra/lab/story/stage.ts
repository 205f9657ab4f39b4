import { setTimeout as sleep } from "node:timers/promises";
import type { Lab } from "../world/lab.ts";
import { callAdmin } from "../world/timer.ts";
import { MachineDoor } from "./machines.ts";
import { OwnerAtNetBox } from "./netbox.ts";
import type { Teller } from "./teller.ts";

export interface DeviceView {
  readonly name: string;
  readonly status: string;
  readonly run: {
    readonly name: string;
    readonly kind: string;
    readonly phase: string;
    readonly result: string | null;
  } | null;
  readonly config: { readonly state: string } | null;
  readonly token: { readonly id: string; readonly approved: string | null; readonly deleted: string | null } | null;
  readonly verdict: { readonly result: string; readonly at: string; readonly codes: readonly string[] } | null;
  readonly retire: Readonly<Record<string, unknown>> | null;
  readonly conditions: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
}

const POLL_MS = 250;
const PATIENCE = 5;

/** What had to come did not: what would follow from it need not be waited for. */
export class StoryEnds extends Error {}

/** Everything the story acts and looks with; it never calls fleetd's code, only its listeners. */
export class Stage {
  readonly lab: Lab;
  readonly teller: Teller;
  readonly owner: OwnerAtNetBox;
  readonly machines: MachineDoor;
  readonly failed: string[] = [];

  constructor(lab: Lab, teller: Teller) {
    this.lab = lab;
    this.teller = teller;
    this.owner = new OwnerAtNetBox(lab);
    this.machines = new MachineDoor(lab.urls.machines, lab.peers.bmc.prefix);
  }

  /** Something that a person or the outside world does. */
  act(device: string, code: string, text: string): void {
    this.teller.tell({ device, source: "lab", kind: "act", code, text });
  }

  /** Holds one thing that must be so; what is not is told and makes the story fail. */
  check(device: string, code: string, text: string, holds: boolean): void {
    this.teller.tell({
      device,
      source: "lab",
      kind: holds ? "seen" : "WRONG",
      code,
      text: holds ? `✓ ${text}` : `✗ ${text}`,
    });
    if (!holds) this.failed.push(`${device}: ${text}`);
  }

  /** Waits for something that must come; what does not come in time ends it. @throws StoryEnds */
  async until(
    device: string,
    code: string,
    text: string,
    seconds: number,
    holds: () => Promise<boolean>,
  ): Promise<void> {
    // Real peers answer when they do; a machine that runs them all is slower still. A retirement that lost its first Job
    // is tried again after five minutes.
    const patience = this.lab.peers.obeys ? 1 : PATIENCE;
    const end = Date.now() + seconds * patience * 1000;
    for (;;) {
      const now = await holds().catch(() => false);
      if (now || Date.now() > end) {
        this.check(device, code, now ? text : `${text} (not within ${seconds * patience} s)`, now);
        if (!now) throw new StoryEnds();
        return;
      }
      await sleep(POLL_MS);
    }
  }

  async admin(path: string): Promise<unknown> {
    const { status, text } = await callAdmin(
      this.lab.paths,
      `${this.lab.urls.admin}${path}`,
      this.lab.material.adminToken,
    );
    if (status !== 200) throw new Error(`fleetd: GET ${path}: ${status}`);
    return JSON.parse(text);
  }

  async device(name: string): Promise<DeviceView> {
    return (await this.admin(`/devices/${name}`)) as DeviceView;
  }

  async hasCondition(name: string, type: string, reason?: string): Promise<boolean> {
    const { conditions } = await this.device(name);
    return conditions.some((c) => c.type === type && (reason === undefined || c.reason === reason));
  }

  async spireNames(): Promise<string[]> {
    return ((await this.admin("/spire-nodes.json")) as { nodes: { name: string }[] }).nodes.map((n) => n.name);
  }

  /** True where the NetBox journal of the fleet has a line with these words for the device. */
  journaled(device: string, words: RegExp): boolean {
    return this.teller.lines.some((l) => l.source === "journal" && l.device === device && words.test(l.text));
  }
}
