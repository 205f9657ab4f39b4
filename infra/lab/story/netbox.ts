import { setTimeout as sleep } from "node:timers/promises";
import type { Lab } from "../world/lab.ts";
import { type BmcKind, ROLE } from "../world/peers.ts";
import type { Teller } from "./teller.ts";

export type Row = Readonly<Record<string, unknown>> & { readonly id: number };

/** What an owner declares of a machine. */
export interface Declaration {
  readonly name: string;
  readonly serial: string;
  readonly number: number;
  readonly switchPort: string;
  readonly diskSerial: string;
  readonly eks: readonly { readonly digest: string; readonly source: string }[];
  readonly withBmc: boolean;
}

/** An owner at NetBox: declares machines, asks for actions, reads the journal. All by NetBox's own API. */
export class OwnerAtNetBox {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #bmc: BmcKind;
  readonly #obeys: boolean;
  readonly ids = new Map<string, number>();

  constructor(lab: Lab) {
    this.#url = lab.urls.netbox;
    const token = lab.material.ownerToken;
    // A token of NetBox's second kind names itself.
    const authorization = `${token.startsWith("nbt_") ? "Bearer" : "Token"} ${token}`;
    // NetBox's web server drops idle connections without a word: each call has one of its own.
    this.#headers = { authorization, "content-type": "application/json", connection: "close" };
    this.#bmc = lab.peers.bmc;
    this.#obeys = lab.peers.obeys;
  }

  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: this.#headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`NetBox: ${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
    return text === "" ? null : JSON.parse(text);
  }

  /** A PATCH under If-Match; false where somebody else wrote first. */
  async patchIfMatch(path: string, body: unknown, etag: string): Promise<boolean> {
    const response = await fetch(`${this.#url}${path}`, {
      method: "PATCH",
      headers: { ...this.#headers, "if-match": etag },
      body: JSON.stringify(body),
    });
    if (!response.ok && response.status !== 412) throw new Error(`NetBox: PATCH ${path}: ${response.status}`);
    return response.ok;
  }

  async #post(path: string, body: unknown): Promise<Row> {
    return (await this.call("POST", path, body)) as Row;
  }

  /** Device, two interfaces, cable, addresses, approved EKs: status planned. */
  async declare(d: Declaration): Promise<number> {
    const device = await this.#post("/api/dcim/devices/", {
      name: d.name,
      device_type: { slug: "mini-800" },
      role: { slug: ROLE },
      site: { slug: "lab" },
      status: "planned",
      serial: d.serial,
      custom_fields: {
        fleet_class: "talos-worker",
        install_disk: "nvme0n1",
        install_disk_serial: d.diskSerial,
        bmc_type: d.withBmc ? this.#bmc.type : null,
        approved_eks: d.eks,
      },
    });
    this.ids.set(d.name, device.id);
    const port = (name: string, managementOnly: boolean) =>
      this.#post("/api/dcim/interfaces/", { device: device.id, name, type: "1000base-t", mgmt_only: managementOnly });
    const host = await port("eno1", false);
    const management = await port("bmc", true);
    const address = (at: number, text: string) =>
      this.#post("/api/ipam/ip-addresses/", {
        address: text,
        assigned_object_type: "dcim.interface",
        assigned_object_id: at,
      });
    const primary = await address(host.id, `10.77.0.${d.number}/24`);
    const outOfBand = await address(management.id, `${this.#bmc.prefix}.0.${d.number}/16`);
    await this.call("PATCH", `/api/dcim/devices/${device.id}/`, {
      primary_ip4: primary.id,
      ...(d.withBmc ? { oob_ip: outOfBand.id } : {}),
    });
    const switches = (await this.call("GET", "/api/dcim/devices/?name=sw-000")) as { results: Row[] };
    const sw = switches.results.find((s) => s.name === "sw-000");
    const ports = (await this.call("GET", `/api/dcim/interfaces/?device_id=${sw?.id}&limit=100`)) as { results: Row[] };
    const far = ports.results.find((p) => p.name === d.switchPort);
    if (far === undefined) throw new Error(`the lab's switch has no port ${d.switchPort}`);
    await this.#post("/api/dcim/cables/", {
      a_terminations: [{ object_type: "dcim.interface", object_id: host.id }],
      b_terminations: [{ object_type: "dcim.interface", object_id: far.id }],
    });
    return device.id;
  }

  id(name: string): number {
    const id = this.ids.get(name);
    if (id === undefined) throw new Error(`${name} was not declared`);
    return id;
  }

  async device(
    name: string,
  ): Promise<
    Row & { readonly status: { readonly value: string }; readonly custom_fields: Readonly<Record<string, unknown>> }
  > {
    return (await this.call("GET", `/api/dcim/devices/${this.id(name)}/`)) as never;
  }

  async status(name: string): Promise<string> {
    return (await this.device(name)).status.value;
  }

  async request(name: string, action: string): Promise<void> {
    await this.call("PATCH", `/api/dcim/devices/${this.id(name)}/`, { custom_fields: { desired_action: action } });
  }

  async setStatus(name: string, status: string): Promise<void> {
    await this.call("PATCH", `/api/dcim/devices/${this.id(name)}/`, { status });
  }

  /** Another client's save of a row that it read earlier: NetBox rewrites the whole row. */
  async saveOldRow(name: string): Promise<void> {
    const id = this.id(name);
    if (this.#obeys) return void (await this.call("POST", `/lab/save-old-row/${id}`, { back: 1 }));
    const query = `changed_object_id=${id}&changed_object_type=dcim.device&action=update&user=fleetd&limit=1`;
    const page = (await this.call("GET", `/api/core/object-changes/?${query}`)) as { results: Row[] };
    const before = page.results[0]?.prechange_data as { readonly custom_fields?: unknown } | undefined;
    if (before === undefined) throw new Error("fleetd has written nothing yet");
    await this.call("PATCH", `/api/dcim/devices/${id}/`, { custom_fields: before.custom_fields });
  }

  /** Makes the time long in which a write without If-Match holds an old row, where that can be asked for; 0 ends it. */
  async holdOldRows(windowMs: number): Promise<void> {
    if (this.#obeys) await this.call("POST", "/lab/faults", { mode: "ok", ...(windowMs > 0 && { windowMs }) });
  }

  /** Tells each new JournalEntry of the fleet until stopped; returns how to stop. */
  followJournal(teller: Teller): () => Promise<void> {
    let last = 0;
    let ended = false;
    const names = () => new Map([...this.ids].map(([name, id]) => [id, name]));
    const look = async () => {
      const page = (await this.call("GET", "/api/extras/journal-entries/?limit=1000")) as {
        results: {
          id: number;
          created: string;
          assigned_object_id: number;
          kind: { value: string };
          comments: string;
        }[];
      };
      const fresh = page.results.filter((e) => e.id > last).sort((a, b) => a.id - b.id);
      for (const e of fresh) {
        last = e.id;
        const text = e.comments.replace(/ \[fleetd [0-9a-f]+\]$/, "").replace(/\\(.)/g, "$1");
        const mark = /\[fleetd ([0-9a-f]+)\]$/.exec(e.comments)?.[1] ?? "";
        const device = names().get(e.assigned_object_id) ?? String(e.assigned_object_id);
        teller.tell({ at: e.created, device, source: "journal", kind: e.kind.value, code: mark, text });
      }
    };
    const loop = (async () => {
      while (!ended) {
        await look().catch(() => undefined);
        await sleep(200);
      }
      await look().catch(() => undefined);
    })();
    return async () => {
      ended = true;
      await loop;
    };
  }
}
