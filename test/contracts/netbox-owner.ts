import { type RequestOptions, request } from "node:http";

/** An owner at NetBox's own API: adds machines and edits them as a person or their tools would. */
export interface Owner {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: unknown }>;
  must(method: string, path: string, body?: unknown): Promise<Row>;
  addMachine(machine: MachineOrder): Promise<AddedMachine>;
  /** Deletes every machine that was added here, with its addresses and cables. */
  removeMachines(): Promise<void>;
}
export type Row = { readonly id: number } & Readonly<Record<string, unknown>>;
export interface MachineOrder {
  readonly name: string;
  readonly role: string;
  readonly switchPort?: string;
  readonly number: number;
  readonly customFields?: Readonly<Record<string, unknown>>;
  readonly status?: string;
}
export interface AddedMachine {
  readonly id: number;
  readonly host: number;
  readonly management: number;
}

function exchange(url: URL, body: string, options: RequestOptions): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end(body);
  });
}

export function ownerOf(url: string, token: string): Owner {
  const call: Owner["call"] = async (method, path, body, headers = {}) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const answer = await exchange(new URL(path, url), text, {
      method,
      // A connection of its own: one that fetch keeps for all may lie idle, and gunicorn closes it as it is used again.
      agent: false,
      headers: {
        authorization: `${token.startsWith("nbt_") ? "Bearer" : "Token"} ${token}`,
        ...(body === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
        ...headers,
      },
    });
    const isJson = answer.text.startsWith("{") || answer.text.startsWith("[");
    return { status: answer.status, body: isJson ? JSON.parse(answer.text) : answer.text };
  };
  const must: Owner["must"] = async (method, path, body) => {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as Row;
  };
  const added: number[] = [];
  const addMachine: Owner["addMachine"] = async (order) => {
    const device = await must("POST", "/api/dcim/devices/", {
      name: order.name,
      device_type: { slug: "mini-800" },
      role: { slug: order.role },
      site: { slug: "lab" },
      status: order.status ?? "planned",
      serial: `SN${order.name}`,
      custom_fields: order.customFields ?? {},
    });
    added.push(device.id);
    const port = (name: string, managementOnly: boolean) =>
      must("POST", "/api/dcim/interfaces/", { device: device.id, name, type: "1000base-t", mgmt_only: managementOnly });
    const host = await port("eno1", false);
    const management = await port("amt", true);
    const address = (at: number, network: number) =>
      must("POST", "/api/ipam/ip-addresses/", {
        address: `10.${network}.0.${order.number}/16`,
        assigned_object_type: "dcim.interface",
        assigned_object_id: at,
      });
    const primary = await address(host.id, 20);
    const outOfBand = await address(management.id, 30);
    await must("PATCH", `/api/dcim/devices/${device.id}/`, { primary_ip4: primary.id, oob_ip: outOfBand.id });
    if (order.switchPort !== undefined) await plug(must, host.id, order.switchPort);
    return { id: device.id, host: host.id, management: management.id };
  };
  const removeMachines = async () => {
    for (const id of added.splice(0)) await call("DELETE", `/api/dcim/devices/${id}/`);
  };
  return { call, must, addMachine, removeMachines };
}

async function plug(must: Owner["must"], interfaceId: number, switchPort: string): Promise<void> {
  const found = await must("GET", `/api/dcim/interfaces/?device=sw-000&name=${switchPort}`);
  const [port] = found.results as Row[];
  if (port === undefined) throw new Error(`no ${switchPort}`);
  const end = (id: number) => [{ object_type: "dcim.interface", object_id: id }];
  await must("POST", "/api/dcim/cables/", { a_terminations: end(interfaceId), b_terminations: end(port.id) });
}
