import { readFileSync, rmSync } from "node:fs";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import { expect, vi } from "vitest";
import { lldpFrame } from "../../../infra/lab/machine/machine.ts";
import { pemBytes } from "../../../infra/lab/machine/pem.ts";
import { OwnerAtNetBox } from "../../../infra/lab/story/netbox.ts";
import { type Lab, startLab } from "../../../infra/lab/world/lab.ts";
import { HOOKOS_MARKER, OS_MARKER } from "../../../infra/lab/world/material.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { Node, type NodeSite } from "./node.ts";
import type { NodeTpm } from "./node-tpm.ts";

/** What the lab's passes bring about is there by then. */
export const soon = { timeout: 20_000, interval: 200 };

/** A lab, and w1 in it: declared, installed and active, with its keys in a TPM. */
export interface LabNode {
  readonly lab: Lab;
  readonly owner: OwnerAtNetBox;
  readonly node: Node;
  /** Stops the lab and removes its folder; the TPM is its opener's. */
  stop(): Promise<void>;
}

const PORT = { chassisMac: "02:00:5e:00:00:00", systemName: "sw-000", port: "port9" };
const CLASSES = fileURLToPath(new URL("../../../infra/lab/defaults/classes.json", import.meta.url));

/** @param state the lab's folder */
export async function installedNode(state: string, tpm: NodeTpm): Promise<LabNode> {
  const lab = await startLab({ state, classes: CLASSES, profiles: null, passEveryMs: 300 });
  const stop = async () => {
    await lab.stop();
    rmSync(state, { recursive: true, force: true });
  };
  try {
    tls.setDefaultCACertificates([...tls.rootCertificates, readFileSync(lab.paths.tls.ca, "utf8")]);
    const owner = new OwnerAtNetBox(lab);
    const eks = tpm.eks.map(({ digest }) => ({ digest, source: "SUPPLIER:1" }));
    const { name, serial } = aDevice();
    const declared = { name, serial, number: 9, switchPort: PORT.port, diskSerial: "DISK-W1", withBmc: false };
    await owner.declare({ ...declared, eks });
    const good = { der: pemBytes(lab.material.authority.good) };
    const site: NodeSite = {
      device: lab.urls.device,
      admin: lab.urls.admin,
      signers: { hookos: good, os: good, foreign: { der: pemBytes(lab.material.authority.foreign) } },
      hookosCommandLine: `console=tty0 ${HOOKOS_MARKER}`,
      osCommandLine: `talos.platform=metal ${OS_MARKER}`,
      lldp: Buffer.from(lldpFrame(PORT)).toString("base64"),
      uuid: async () => "4c4c4544-0034-4410-8043-b7c04f335131",
      becomesActive: () => vi.waitFor(async () => expect(await owner.status("w1")).toBe("active"), soon),
    };
    return { lab, owner, node: await Node.installed(tpm, site), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
