import { readFileSync } from "node:fs";
import { createClient, type NetBoxClient } from "../../shared/adapters/netbox/client.ts";
import { isPortError } from "../../shared/ports/error.ts";
import { type Arguments, type Io, UsageError } from "./_command.ts";
import { NO_ANSWER, REFUSED } from "./answer.ts";

/** The command's plan was told, and nothing of it done. */
export const PLANNED = 3;

const TIMEOUT_MS = 60_000;

/** How a command reaches NetBox as a person: no argument, since a process list shows arguments to everybody. */
export const OWNER_NETBOX_HELP = [
  "NetBox is $FLEETCTL_NETBOX_URL; its token (the person's own, not fleetd's) is in the file $FLEETCTL_NETBOX_TOKEN_FILE,",
  "or is $FLEETCTL_NETBOX_TOKEN.",
].join("\n");

export interface OwnerNetBox {
  readonly url: string;
  readonly token: string;
  readonly client: NetBoxClient;
}

/** NetBox as the environment names it. @throws UsageError where that does not suffice */
export function ownerNetBox(io: Io): OwnerNetBox {
  const { FLEETCTL_NETBOX_URL: url, FLEETCTL_NETBOX_TOKEN_FILE: file, FLEETCTL_NETBOX_TOKEN: plainToken } = io.env;
  if (url === undefined || !URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError("FLEETCTL_NETBOX_URL must name NetBox");
  const { username, password } = new URL(url);
  if (username !== "" || password !== "")
    throw new UsageError("FLEETCTL_NETBOX_URL holds a user or a password: NetBox is asked by a token alone");
  const token = (file === undefined ? plainToken : contents(file))?.trim();
  if (token === undefined || token === "")
    throw new UsageError(
      "FLEETCTL_NETBOX_TOKEN_FILE (or FLEETCTL_NETBOX_TOKEN) is needed: a token of your own account",
    );
  // It becomes a header, which takes no more; of a file it is likely another than was meant.
  if (!/^[ -~]+$/.test(token)) throw new UsageError("what FLEETCTL_NETBOX_TOKEN_FILE holds is no token of NetBox");
  return { url, token, client: createClient({ url, token, timeoutMs: TIMEOUT_MS }) };
}

const SLUG = /^[-a-zA-Z0-9_]{1,100}$/;

/** The role whose devices are the fleet. @throws UsageError for what is no slug: an empty one would mean every role */
export function roleOf(args: Arguments, io: Io): string {
  const role = args.value("role") ?? io.env.FLEET_NETBOX_ROLE ?? "fleet-node";
  if (!SLUG.test(role)) throw new UsageError(`--role (or FLEET_NETBOX_ROLE) "${role}" is no slug of a device role`);
  return role;
}

function contents(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new UsageError(`FLEETCTL_NETBOX_TOKEN_FILE ${file} cannot be read`);
  }
}

/** What a fault of NetBox's means to whoever called: words, and the exit code. @throws what is no fault of NetBox's */
export function netboxFault(error: unknown): { readonly words: string; readonly exitCode: number } {
  if (isPortError(error, "unavailable")) return { words: error.message, exitCode: NO_ANSWER };
  if (isPortError(error, "rejected", "conflict", "not-found")) return { words: error.message, exitCode: REFUSED };
  throw error;
}
