import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { netboxSetupContract } from "../../contracts/netbox-setup.ts";
import { type RealNetBox, startNetBox } from "./start.ts";

describe("a real NetBox that has nothing of fleetd's", () => {
  const folder = mkdtempSync(join(tmpdir(), "fleetd-netbox-"));
  let netbox: RealNetBox | undefined;
  afterAll(async () => {
    await netbox?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  netboxSetupContract(async () => {
    netbox = await startNetBox(folder);
    return netbox;
  });
});
