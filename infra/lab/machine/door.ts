import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { at, type JsonObject, objectOf, textAt } from "../kubernetes/json.ts";
import type { LabMachine, LabMachineSpec, MachineLies, SwitchPort } from "./machine.ts";
import type { LabMachines } from "./machines.ts";

export interface Door {
  readonly url: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const ok = (body: unknown = {}): Answer => ({ status: 200, body });
const wrong = (status: number, detail: string): Answer => ({ status, body: { detail } });

/**
 * The lab's hand on its machines, as JSON over HTTP, for the story and for tests: GET /, POST /site {deviceUrl?, caFile?,
 * tinkUrl?}, POST /machines SPEC, GET /machines/NAME, and below it POST power {state, boot?}, lies, firmware {kind}, port,
 * bmc, tpm {with}, fetch-config, and GET disks/N?offset=&length=.
 */
export async function openDoor(machines: LabMachines, port = 0): Promise<Door> {
  const server = createServer((request, response) => {
    answer(machines, request)
      .catch((error: unknown) => wrong(400, error instanceof Error ? error.message : "failed"))
      .then(({ status, body }) => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(body));
      });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: actual } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${actual}`, close };
}

async function answer(machines: LabMachines, request: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || "{}");
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://lab");
  const [root = "", name, what, index] = pathname.slice(1).split("/");
  const isPost = request.method === "POST";
  if (root === "") return ok(await overview(machines));
  if (root === "site" && isPost) return ok(changeSite(machines, objectOf(body)));
  if (root !== "machines") return wrong(404, "no such thing");
  if (name === undefined) {
    if (!isPost) return ok(await Promise.all(machines.all().map(stateOf)));
    return ok(await stateOf(await machines.add(body as LabMachineSpec)));
  }
  const machine = machines.get(name);
  if (machine === undefined) return wrong(404, `there is no machine ${name}`);
  if (what === undefined) return ok(await stateOf(machine));
  if (what === "disks") return readDisk(machine, Number(index ?? 0), searchParams);
  return isPost ? order(machines, machine, what, objectOf(body)) : wrong(405, "POST only");
}

async function order(machines: LabMachines, machine: LabMachine, what: string, body: JsonObject): Promise<Answer> {
  switch (what) {
    case "power":
      return power(machine, body);
    case "lies":
      machine.lies = body as MachineLies;
      break;
    case "firmware":
      machine.firmware = textAt(body, "kind") === "foreign" ? "foreign" : "good";
      break;
    case "port":
      machine.switchPort = "port" in body ? (body as unknown as SwitchPort) : null;
      break;
    case "bmc": {
      const faults = machines.faults(machine.spec.name);
      if (faults === undefined) return wrong(404, "it has no BMC");
      Object.assign(faults, body);
      break;
    }
    case "tpm": {
      const other = machines.get(textAt(body, "with"));
      if (other === undefined) return wrong(404, "there is no such other machine");
      await machines.swapTpms(machine, other);
      break;
    }
    case "fetch-config":
      return ok({ status: await machine.fetchConfigAgain() });
    default:
      return wrong(404, "no such order");
  }
  return ok(await stateOf(machine));
}

async function power(machine: LabMachine, body: JsonObject): Promise<Answer> {
  const state = textAt(body, "state");
  const boot = at(body, "boot");
  if (state === "off" || state === "cycle") await machine.stopped();
  if (state === "on" || state === "cycle") machine.powerOn(boot === "pxe" || boot === "disk" ? boot : undefined);
  return ["on", "off", "cycle"].includes(state) ? ok(await stateOf(machine)) : wrong(400, "state: on, off or cycle");
}

async function overview(machines: LabMachines): Promise<JsonObject> {
  const log = (kind: "good" | "foreign") => {
    const { eventLog, commandLine } = machines.hookosLog(kind);
    return { eventLog: Buffer.from(eventLog).toString("base64"), commandLine };
  };
  return {
    tpm: machines.tpmKind,
    bmcUrl: machines.bmcs.url,
    firmware: { good: log("good"), foreign: log("foreign") },
    machines: machines.all().map((machine) => machine.spec.name),
  };
}

function changeSite({ site }: LabMachines, body: JsonObject): JsonObject {
  for (const key of ["deviceUrl", "caFile", "tinkUrl"] as const) {
    const value = textAt(body, key);
    if (value !== "") site[key] = value;
  }
  return { deviceUrl: site.deviceUrl, caFile: site.caFile, tinkUrl: site.tinkUrl };
}

async function stateOf(machine: LabMachine): Promise<JsonObject> {
  const { spec, attestations, configStatuses, events, firmware, lies, node, runs, switchPort } = machine;
  return {
    name: spec.name,
    serial: spec.serial,
    uuid: spec.uuid,
    mac: spec.mac,
    on: machine.isOn(),
    runs,
    node,
    firmware,
    switchPort,
    lies: { ...lies },
    eks: await machine.tpm.ekDigests(),
    attestations,
    configStatuses,
    events,
  };
}

function readDisk(machine: LabMachine, index: number, query: URLSearchParams): Answer {
  const disk = machine.disks[index];
  if (disk === undefined) return wrong(404, "there is no such disk");
  const offset = Number(query.get("offset") ?? 0);
  const length = Number(query.get("length") ?? 0);
  const { device, serial, sizeBytes } = disk;
  const sha256 = createHash("sha256").update(disk.read(0, sizeBytes)).digest("hex");
  const hex = Buffer.from(disk.read(offset, length)).toString("hex");
  return ok({ device, serial, sizeBytes, sha256, hex });
}
