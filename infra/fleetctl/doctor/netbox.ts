import { z } from "zod";
import { createClient, type NetBoxClient, NetBoxError } from "../../../shared/adapters/netbox/client.ts";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import { read, selection } from "../../../shared/adapters/netbox/schema.ts";
import { isPortError } from "../../../shared/ports/error.ts";
import type { Settings } from "../../../shared/runtime/config.ts";
import { fieldFaults } from "../netbox/plan-fields.ts";
import { whoIs } from "../netbox/setup-state.ts";
import { WANTED_FIELDS } from "../netbox/wanted-fields.ts";
import { wantedPermissions } from "../netbox/wanted-rights.ts";
import { type Check, failed, looked, ok, warning } from "./check.ts";
import { probe } from "./probe.ts";
import { serverChecks } from "./times.ts";

const UP = "look whether FLEET_NETBOX_URL names NetBox and it is up";
const SET_UP = "run fleetctl netbox setup";

/** NetBox: reached, its version, whose token, rights and fields. Nothing is written: what could write is asked in a way that is refused. */
export async function checkNetBox(settings: Settings): Promise<Check[]> {
  const {
    FLEET_NETBOX_URL: url,
    FLEET_NETBOX_TOKEN_FILE: token,
    FLEET_NETBOX_ROLE: role,
    FLEET_NETBOX_USER: user,
  } = settings;
  const timeoutMs = settings.FLEET_CALL_TIMEOUT_MS;
  const reached = await looked("netbox", UP, async () =>
    serverChecks("netbox", await probe(`${url.replace(/\/+$/, "")}/api/status/`, undefined, timeoutMs)),
  );
  // Over a connection that is not trusted fleetd asks nothing either.
  if (reached.some((one) => one.result === "failed" && one.name !== "netbox clock")) return reached;
  const client = createClient({ url, token, timeoutMs });
  const version = await checkVersion(() => createNetBox({ url, token, role, timeoutMs }).checkVersion());
  if (version.some((one) => one.result === "failed")) return [...reached, ...version];
  return [
    ...reached,
    ...version,
    ...(await looked("netbox account", SET_UP, async () => {
      const me = await whoIs(client);
      return me === user
        ? ok("netbox account", `the token is ${user}'s`)
        : failed(
            "netbox account",
            `the token is ${me}'s`,
            `FLEET_NETBOX_USER says ${user}: what ${me} edits counts as an owner's request`,
          );
    })),
    ...(await looked("netbox rights", SET_UP, () => checkRights(client, user, role))),
    ...(await looked("netbox fields", SET_UP, () => checkFields(client))),
    ...(await looked("netbox role", SET_UP, () => checkRole(client, role))),
  ];
}

async function checkVersion(ask: () => Promise<string>): Promise<Check[]> {
  try {
    return [ok("netbox version", await ask())];
  } catch (error) {
    if (!isPortError(error)) throw error;
    // One that is too old has answered well.
    const todo = !(error instanceof NetBoxError)
      ? "update NetBox to 4.6 or later"
      : error.status === 403
        ? "look at FLEET_NETBOX_TOKEN_FILE"
        : UP;
    return [failed("netbox version", error.message, todo)];
  }
}

const PATHS: Readonly<Record<string, string>> = {
  "dcim.device": "/api/dcim/devices/",
  "dcim.interface": "/api/dcim/interfaces/",
  "dcim.macaddress": "/api/dcim/mac-addresses/",
  "dcim.cable": "/api/dcim/cables/",
  "ipam.ipaddress": "/api/ipam/ip-addresses/",
  "ipam.prefix": "/api/ipam/prefixes/",
  "extras.journalentry": "/api/extras/journal-entries/",
  "extras.customfield": "/api/extras/custom-fields/",
  "core.objectchange": "/api/core/object-changes/",
};

/** Whether a call is refused for want of a right, and not for what it says. */
async function isForbidden(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return false;
  } catch (error) {
    if (!(error instanceof NetBoxError) || error.kind === "unavailable") throw error;
    return error.status === 403;
  }
}

async function checkRights(client: NetBoxClient, user: string, role: string): Promise<Check[]> {
  const asked = {
    view: (path: string) => client.get(path, [["limit", 1]]),
    // An empty object lacks what is required; no object has the id 0.
    add: (path: string) => client.send("POST", path, {}),
    change: (path: string) => client.send("PATCH", `${path}0/`, {}),
  };
  const found: Check[] = [];
  for (const { types, actions, why } of wantedPermissions(user, role))
    for (const type of types)
      for (const action of actions)
        if (await isForbidden(asked[action](PATHS[type] ?? "")))
          found.push(failed("netbox rights", `may not ${action} ${type} (${why})`, SET_UP));
  if (!(await isForbidden(client.get("/api/users/users/", [["limit", 1]]))))
    found.push(
      warning(
        "netbox rights",
        "the account sees NetBox's users: it has more rights than fleetd needs",
        "give it those of fleetctl netbox setup alone",
      ),
    );
  return found.length > 0
    ? found
    : [ok("netbox rights", "all that fleetd needs; what can be tried without writing was tried")];
}

const fieldRow = z.object({
  id: z.int(),
  name: z.string(),
  object_types: z.array(z.string()),
  type: selection,
  required: z.boolean(),
  unique: z.boolean().optional(),
  default: z.unknown(),
});

async function checkFields(client: NetBoxClient): Promise<Check[]> {
  const rows = await client.rows("/api/extras/custom-fields/", [], (row) => read(fieldRow, row, "custom fields"));
  const found = WANTED_FIELDS.flatMap((wanted) => {
    const row = rows.find((one) => one.name === wanted.name);
    if (row === undefined || !row.object_types.includes(wanted.of))
      return [failed("netbox fields", `there is no custom field ${wanted.name} of ${wanted.of}`, SET_UP)];
    return fieldFaults(wanted, row).map((words) => failed("netbox fields", words, "change it in NetBox"));
  });
  return found.length > 0 ? found : [ok("netbox fields", `all ${WANTED_FIELDS.length} are there`)];
}

async function checkRole(client: NetBoxClient, role: string): Promise<Check> {
  const known = await client
    .get("/api/dcim/devices/", [
      ["role", role],
      ["limit", 1],
      ["fields", "id"],
    ])
    .catch((error: unknown) => {
      // A role that is not there is a bad choice of the filter.
      if (error instanceof NetBoxError && error.status === 400) return null;
      throw error;
    });
  return known === null
    ? failed("netbox role", `there is no device role ${role}`, `${SET_UP}, or mend FLEET_NETBOX_ROLE`)
    : ok("netbox role", `${role} is there`);
}
