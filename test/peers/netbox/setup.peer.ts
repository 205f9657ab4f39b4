import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { netboxInventoryContract } from "../../contracts/netbox-inventory.ts";
import { netboxSetupContract } from "../../contracts/netbox-setup.ts";
import { prepareNetBox } from "./prepare.ts";
import { type RealNetBox, startNetBox } from "./start.ts";

const ROLE = "fleet-node";

describe("a real NetBox that has nothing of fleetd's", () => {
  const folder = mkdtempSync(join(tmpdir(), "fleetd-netbox-"));
  let started: Promise<RealNetBox> | undefined;
  const start = () => {
    started ??= startNetBox(folder);
    return started;
  };
  afterAll(async () => {
    await (await started)?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  netboxSetupContract(start);
  // Its fields are set-up's; site, types and switch are an owner's own.
  netboxInventoryContract(async () => {
    const { url, adminToken } = await start();
    await prepareNetBox(url, adminToken, ROLE);
    return { url, adminToken, role: ROLE };
  });
});
