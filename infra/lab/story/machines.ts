import { setTimeout as sleep } from "node:timers/promises";
import type { Teller } from "./teller.ts";

export interface MachineState {
  readonly name: string;
  readonly on: boolean;
  readonly runs: "nothing" | "firmware" | "hookos" | "talos";
  readonly node: string | null;
  readonly eks: readonly string[];
  readonly attestations: readonly { readonly lines: readonly string[]; readonly exit: number | null }[];
  readonly configStatuses: readonly number[];
  readonly events: readonly string[];
}

export interface MachineOrder {
  readonly name: string;
  readonly serial: string;
  readonly number: number;
  readonly port: string;
  readonly diskSerial: string;
  readonly withBmc: boolean;
  readonly firmware?: "good" | "foreign";
}

/** The lab's hand on its machines: power buttons, cables, other people's firmware. */
export class MachineDoor {
  readonly #url: string;
  readonly #bmcPrefix: string;
  #names: string[] = [];

  constructor(url: string, bmcPrefix: string) {
    this.#url = url;
    this.#bmcPrefix = bmcPrefix;
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`machines: ${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** A machine in its rack, powered off, with a blank disk. */
  async add(order: MachineOrder): Promise<MachineState> {
    const two = order.number.toString(16).padStart(2, "0");
    const state = await this.call<MachineState>("POST", "/machines", {
      name: order.name,
      serial: order.serial,
      uuid: `4c4c4544-0000-4000-8000-0000000000${two}`,
      mac: `52:54:00:77:00:${two}`,
      disks: [
        { device: "/dev/nvme0n1", serial: order.diskSerial },
        { device: "/dev/sda", serial: `${order.diskSerial}-DATA` },
      ],
      switchPort: { chassisMac: "02:00:5e:00:00:00", systemName: "sw-000", port: order.port },
      firmware: order.firmware ?? "good",
      bootOrder: ["disk", "pxe"],
      ...(order.withBmc ? { bmcHost: `${this.#bmcPrefix}.0.${order.number}` } : {}),
    });
    this.#names.push(order.name);
    return state;
  }

  state(name: string): Promise<MachineState> {
    return this.call("GET", `/machines/${name}`);
  }

  power(name: string, state: "on" | "off" | "cycle", boot?: "pxe" | "disk"): Promise<MachineState> {
    return this.call("POST", `/machines/${name}/power`, { state, ...(boot === undefined ? {} : { boot }) });
  }

  lies(
    name: string,
    lies: { readonly instead?: { readonly taskId: string; readonly actionId: string } },
  ): Promise<MachineState> {
    return this.call("POST", `/machines/${name}/lies`, lies);
  }

  bmc(name: string, faults: { readonly refuseOffs?: number; readonly ignores?: boolean }): Promise<MachineState> {
    return this.call("POST", `/machines/${name}/bmc`, faults);
  }

  async readConfigAgain(name: string): Promise<number | null> {
    return (await this.call<{ status: number | null }>("POST", `/machines/${name}/fetch-config`, {})).status;
  }

  /** A disk's digest and its first bytes. */
  disk(
    name: string,
    index = 0,
  ): Promise<{ readonly sha256: string; readonly hex: string; readonly sizeBytes: number }> {
    return this.call("GET", `/machines/${name}/disks/${index}?offset=0&length=64`);
  }

  /** Tells what each machine does, until stopped. */
  follow(teller: Teller): () => Promise<void> {
    const seen = new Map<string, number>();
    let ended = false;
    const look = async () => {
      for (const name of this.#names) {
        const { events } = await this.state(name);
        for (const event of events.slice(seen.get(name) ?? 0)) {
          const text = event.replace("tink-attest: tink-attest: ", "tink-attest: ");
          const kind = text.startsWith("tink-attest") ? "tink-attest" : text.startsWith("node ") ? "kubelet" : "boot";
          teller.tell({ device: name, source: "event", kind, code: text.split(" ")[0] ?? "", text });
        }
        seen.set(name, events.length);
      }
    };
    const loop = (async () => {
      while (!ended) {
        await look().catch(() => undefined);
        await sleep(300);
      }
    })();
    return async () => {
      ended = true;
      await loop;
    };
  }
}
