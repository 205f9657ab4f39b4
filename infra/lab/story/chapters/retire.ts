import { createHash } from "node:crypto";
import type { Stage } from "../stage.ts";

/** A node is decommissioned: erased, seen off (the BMC's first answer fails), drained, deleted, offline. */
export async function retire(s: Stage): Promise<void> {
  s.teller.chapter("4. A node is decommissioned");
  const data = await s.machines.disk("w1", 1);
  await pod(s, "web-1");
  await s.owner.setStatus("w1", "decommissioning");
  s.act("w1", "decommissioning", "the owner sets w1 decommissioning");
  await s.until("w1", "erasing", "its retirement runs", 60, async () => (await s.device("w1")).run?.kind === "retire");
  await s.machines.bmc("w1", { refuseOffs: 1 });
  s.act("w1", "bmc", "from now on its BMC refuses the first power-off");
  await s.until("w1", "erased", "its disk is erased", 90, async () => (await s.device("w1")).retire?.erased != null);
  const disk = await s.machines.disk("w1");
  s.check("w1", "bytes-gone", "every byte of its system disk is zero", disk.sha256 === zeroDigest(disk.sizeBytes));
  s.check(
    "w1",
    "data-kept",
    "its data disk has every byte that it had",
    (await s.machines.disk("w1", 1)).sha256 === data.sha256,
  );
  await s.until("w1", "offline", "NetBox shows it offline", 90, async () => (await s.owner.status("w1")) === "offline");
  s.check("w1", "seen-off", "the BMC turned it off by a Job made after the erasure", await offJobCompleted(s));
  s.check("w1", "off", "the machine is off", !(await s.machines.state("w1")).on);
  s.check("w1", "off-refused", "the BMC's refusal was journaled", s.journaled("w1", /power-off refused/));
  s.check("w1", "node-gone", "its Node is deleted", (await s.lab.cluster.get("/api/v1/nodes/w1")) === null);
  const evicted = (await s.lab.cluster.get("/api/v1/namespaces/default/pods/web-1")) as {
    metadata?: { deletionTimestamp?: string };
  } | null;
  s.check(
    "w1",
    "evicted",
    "its pod was evicted",
    evicted === null || evicted.metadata?.deletionTimestamp !== undefined,
  );
  s.check("w1", "not-listed", "it is not listed for SPIRE any more", !(await s.spireNames()).includes("w1"));
  await s.until("w1", "retired", "the journal says that it is retired", 30, async () =>
    s.journaled("w1", /retired: erased, off/),
  );
}

interface Job {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function offJobCompleted(s: Stage): Promise<boolean> {
  const jobs = (await s.lab.tinkerbell.list("/apis/bmc.tinkerbell.org/v1alpha1/namespaces/tinkerbell/jobs")) as Job[];
  return jobs.some(
    (j) =>
      /-retire-.*-off-\d+$/.test(j.metadata.name) &&
      j.status?.conditions?.some((c) => c.type === "Completed" && c.status === "True"),
  );
}

async function pod(s: Stage, name: string): Promise<void> {
  await s.lab.cluster.call("POST", "/api/v1/namespaces/default/pods", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { nodeName: "w1", containers: [{ name: "web", image: "web" }] },
  });
}

function zeroDigest(sizeBytes: number): string {
  return createHash("sha256").update(new Uint8Array(sizeBytes)).digest("hex");
}
