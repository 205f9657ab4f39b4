import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secretPaths } from "../../../infra/fleetctl/netbox/setup.ts";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import { ownerOf, type Row } from "../../contracts/netbox-owner.ts";
import type { NetBoxPart, TroubledFixture } from "../../contracts/netbox-trouble.ts";
import { run } from "../../infra/fleetctl/cli.ts";
import { prepareNetBox } from "./prepare.ts";
import { type RealNetBox, startNetBox } from "./start.ts";

const ROLE = "fleet-node";

/** A real NetBox as the contracts want it; one is started for all of a file, at the first asking. */
export interface RealFixture {
  make(): Promise<TroubledFixture>;
  netbox(): Promise<RealNetBox>;
  stop(): Promise<void>;
}

export function realFixture(): RealFixture {
  let started: Promise<{ netbox: RealNetBox; fixture: TroubledFixture }> | null = null;
  const folder = mkdtempSync(join(tmpdir(), "fleetd-netbox-"));
  const once = () => {
    started ??= start(folder);
    return started;
  };
  return {
    make: async () => (await once()).fixture,
    netbox: async () => (await once()).netbox,
    async stop() {
      await (await started)?.netbox.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function start(folder: string): Promise<{ netbox: RealNetBox; fixture: TroubledFixture }> {
  const netbox = await startNetBox(folder);
  const { url, adminUser, adminToken } = netbox;
  const fleetdToken = await setUp(url, adminToken, folder);
  await prepareNetBox(url, adminToken, ROLE);
  const port = createNetBox({ url, token: fleetdToken, role: ROLE, timeoutMs: 30_000 });
  const { redis, postgres } = netbox;
  const take: Readonly<Record<NetBoxPart, () => Promise<void>>> = {
    queue: () => redis.stop(),
    database: () => postgres.stop(),
    "frozen-queue": async () => void redis.process.child.kill("SIGSTOP"),
  };
  const give: typeof take = {
    queue: () => redis.start(),
    database: () => postgres.start(),
    "frozen-queue": async () => void redis.process.child.kill("SIGCONT"),
  };
  const trouble = { take: (part: NetBoxPart) => take[part](), give: (part: NetBoxPart) => give[part]() };
  return {
    netbox,
    fixture: { ...trouble, url, port, fleetdToken, fleetdUser: "fleetd", adminToken, adminUser, role: ROLE },
  };
}

/** As an owner does it: the account has exactly these rights. Returns fleetd's token. */
async function setUp(url: string, adminToken: string, folder: string): Promise<string> {
  const tokenFile = join(folder, "admin-token");
  writeFileSync(tokenFile, adminToken, { mode: 0o600 });
  const secrets = join(folder, "secrets");
  const args = ["--webhook-url", "https://fleetd.invalid/webhooks/netbox", "--secrets", secrets, "--apply"];
  const env = { FLEETCTL_NETBOX_URL: url, FLEETCTL_NETBOX_TOKEN_FILE: tokenFile };
  const { code, out, err } = await run(["netbox", "setup", ...args], env);
  if (code !== 0) throw new Error(`fleetctl netbox setup: ended with ${code}\n${out}\n${err}`);
  // Nobody listens there: its worker would try and log each edit of the tests.
  const owner = ownerOf(url, adminToken);
  for (const rule of (await owner.must("GET", "/api/extras/event-rules/")).results as Row[])
    await owner.must("PATCH", `/api/extras/event-rules/${rule.id}/`, { enabled: false });
  return readFileSync(secretPaths(secrets).token, "utf8").trim();
}
