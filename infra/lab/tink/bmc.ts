import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { at, type JsonObject, objectOf, textAt } from "../kubernetes/json.ts";

/** What a BMC can do to its machine. */
export interface PowerHooks {
  isOn(): boolean;
  powerOn(boot: "pxe" | "disk"): void;
  powerOff(): void;
}

/** How a BMC misbehaves. */
export interface BmcFaults {
  /** Each answer comes this much later. */
  slowMs: number;
  /** So many power-offs are refused with an error. */
  refuseOffs: number;
  /** So many boot devices are refused with an error. */
  refuseBootDevices: number;
  /** Commands are answered ok and not done. */
  ignores: boolean;
  /** What it says of the power state, whatever is true. */
  says: "on" | "off" | null;
  /** The power state can't be read. */
  blind: boolean;
  /** No connection. */
  down: boolean;
}

export interface LabBmcs {
  readonly url: string;
  /** Adds the BMC at an address; returns its faults, to be changed in place. */
  add(host: string, machine: PowerHooks): BmcFaults;
  /** Listens at another loopback address too, where each BMC has one of its own as in a rack. */
  openAddress(host: string): Promise<void>;
  /** Every call that a BMC got, oldest first: method and parameters. */
  calls(host: string): readonly { readonly method: string; readonly params: JsonObject }[];
  close(): Promise<void>;
}

interface Bmc {
  readonly machine: PowerHooks;
  readonly faults: BmcFaults;
  readonly calls: { readonly method: string; readonly params: JsonObject }[];
  bootDevice: "pxe" | "disk";
}

export interface BmcsOptions {
  /** 0 or absent: the kernel chooses. */
  readonly port?: number;
  /** Each answer takes so long. */
  readonly answerMs?: number;
}

/**
 * Of a real Rufio's Jobs with three Tasks a quarter fails where a BMC answers within a millisecond ("already exists": it
 * makes a Task again that its own copy does not show yet). With an answer as slow as real BMCs' it is one of thirty or less.
 */
export const REAL_ANSWER_MS = 150;

/** Starts one HTTP server with a BMC a machine, in bmclib's RPC: POST / {id, host, method, params}. */
export async function startLabBmcs(options: BmcsOptions = {}): Promise<LabBmcs> {
  const bmcs = new Map<string, Bmc>();
  const servers: Server[] = [];
  const open = (host: string, port: number) => {
    const server = createServer((request, response) => {
      serve(bmcs, request, response).catch(() => response.destroy());
    });
    servers.push(server);
    return new Promise<number>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
    });
  };
  const port = await open("127.0.0.1", options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}/`,
    async openAddress(host) {
      await open(host, port);
    },
    add(host, machine) {
      const faults: BmcFaults = {
        slowMs: options.answerMs ?? 0,
        refuseOffs: 0,
        refuseBootDevices: 0,
        ignores: false,
        says: null,
        blind: false,
        down: false,
      };
      bmcs.set(host, { machine, faults, calls: [], bootDevice: "disk" });
      return faults;
    },
    calls: (host) => bmcs.get(host)?.calls ?? [],
    async close() {
      for (const server of servers) {
        await new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        });
      }
    },
  };
}

async function serve(
  bmcs: ReadonlyMap<string, Bmc>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const call = objectOf(JSON.parse(Buffer.concat(chunks).toString()));
  const bmc = bmcs.get(textAt(call, "host"));
  if (bmc === undefined || bmc.faults.down) return void request.socket.destroy();
  if (bmc.faults.slowMs > 0) await sleep(bmc.faults.slowMs);
  const outcome = answer(bmc, textAt(call, "method"), objectOf(call.params));
  const text = JSON.stringify({ id: call.id, host: call.host, ...outcome });
  // bmclib takes an answer of unknown length for one that is too long.
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

function answer(bmc: Bmc, method: string, params: JsonObject): JsonObject {
  const { faults, machine } = bmc;
  bmc.calls.push({ method, params });
  if (method === "getPowerState") {
    if (faults.blind) return refusal("power state can't be read");
    return { result: faults.says ?? (machine.isOn() ? "on" : "off") };
  }
  if (method === "setBootDevice") {
    if (spend(faults, "refuseBootDevices")) return refusal("no such device");
    bmc.bootDevice = at(params, "device") === "pxe" ? "pxe" : "disk";
    return { result: "ok" };
  }
  if (method !== "setPowerState") return { result: "ok" };
  const state = textAt(params, "state");
  const turnsOff = ["off", "soft", "cycle", "reset"].includes(state);
  if (turnsOff && spend(faults, "refuseOffs")) return refusal("power-off refused");
  if (faults.ignores) return { result: "ok" };
  if (turnsOff) machine.powerOff();
  if (["on", "cycle", "reset"].includes(state) && !machine.isOn()) {
    const { bootDevice } = bmc;
    // The boot device holds for one start.
    bmc.bootDevice = "disk";
    machine.powerOn(bootDevice);
  }
  return { result: "ok" };
}

function refusal(message: string): JsonObject {
  return { error: { code: 500, message } };
}

function spend(faults: BmcFaults, key: "refuseOffs" | "refuseBootDevices"): boolean {
  if (faults[key] <= 0) return false;
  faults[key] -= 1;
  return true;
}
