import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wantedPermissions } from "../../../infra/fleetctl/netbox/wanted-rights.ts";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import { addAccount } from "../../contracts/netbox-accounts.ts";
import { ownerOf } from "../../contracts/netbox-owner.ts";
import type { NetBoxPart, TroubledFixture } from "../../contracts/netbox-trouble.ts";
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
  await prepareNetBox(url, adminToken, ROLE);
  const owner = ownerOf(url, adminToken);
  const fleetdToken = await addAccount(owner, "fleetd", wantedPermissions("fleetd", ROLE));
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
