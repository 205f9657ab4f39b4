import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetBox } from "../../../shared/adapters/netbox/netbox.ts";
import type { NetBoxFixture } from "../../contracts/netbox.ts";
import { ownerOf } from "../../contracts/netbox-owner.ts";
import { addAccount, fleetdGrants } from "./accounts.ts";
import { prepareNetBox } from "./prepare.ts";
import { type RealNetBox, startNetBox } from "./start.ts";

const ROLE = "fleet-node";

/** A real NetBox as the contracts want it; one is started for all of a file, at the first asking. */
export interface RealFixture {
  make(): Promise<NetBoxFixture>;
  netbox(): Promise<RealNetBox>;
  stop(): Promise<void>;
}

export function realFixture(): RealFixture {
  let started: Promise<{ netbox: RealNetBox; fixture: NetBoxFixture }> | null = null;
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

async function start(folder: string): Promise<{ netbox: RealNetBox; fixture: NetBoxFixture }> {
  const netbox = await startNetBox(folder);
  const { url, adminUser, adminToken } = netbox;
  await prepareNetBox(url, adminToken, ROLE);
  const owner = ownerOf(url, adminToken);
  const fleetdToken = await addAccount(owner, "fleetd", fleetdGrants(ROLE));
  const port = createNetBox({ url, token: fleetdToken, role: ROLE, timeoutMs: 30_000 });
  return { netbox, fixture: { url, port, fleetdToken, fleetdUser: "fleetd", adminToken, adminUser, role: ROLE } };
}
