import { PortError } from "../../ports/error.ts";
import type { NetBoxPort } from "../../ports/netbox.ts";
import { createClient, type NetBoxConnection } from "./client.ts";
import { type Reader, readDevice, readDevices } from "./devices.ts";
import { defaultFieldNames, type FieldNames } from "./field-names.ts";
import { addJournal, journalHas, readChanges } from "./journal.ts";
import { recordMac } from "./macs.ts";
import { readMoved } from "./moved.ts";
import { patchDevice } from "./patch.ts";
import { readGateways } from "./prefixes.ts";
import { read, version } from "./schema.ts";

export interface NetBoxOptions extends NetBoxConnection {
  /** Slug of the fleet's device role. */
  readonly role: string;
  readonly fieldNames?: Partial<FieldNames>;
  /** Told of each listed device of another role (it is skipped). */
  readonly onForeignRow?: (id: number) => void;
}

const OLDEST = [4, 6] as const;

/** NetBox 4.6 and 4.7 over its REST API. @see facts/netbox.md, bugs/netbox.md */
export function createNetBox(options: NetBoxOptions): NetBoxPort {
  const client = createClient(options);
  const names = { ...defaultFieldNames, ...options.fieldNames };
  const reader: Reader = { client, role: options.role, names, onForeignRow: options.onForeignRow ?? (() => undefined) };
  return {
    async checkVersion() {
      const text = read(version, await client.get("/api/status/"), "status")["netbox-version"];
      const [major = 0, minor = 0] = text.split(".").map(Number);
      if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return text;
      throw new PortError(
        "rejected",
        "netbox",
        `version ${text} has no ETag, so writes get lost: update to 4.6 or later`,
      );
    },
    devices: (which) => readDevices(reader, which),
    changedSince: (since) => readMoved(reader, since),
    device: (id) => readDevice(reader, id),
    patchDevice: (id, patch, lastUpdated) => patchDevice(reader, id, patch, lastUpdated),
    changes: (id) => readChanges(client, id, names),
    gatewaysOf: (address) => readGateways(client, address, names),
    addJournal: (id, level, text) => addJournal(client, id, level, text),
    journalHas: (id, mark) => journalHas(client, id, mark),
    recordMac: (deviceId, interfaceId, mac) => recordMac(client, deviceId, interfaceId, mac),
  };
}
