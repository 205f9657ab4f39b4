import { whileOwnerEdits } from "../edits.ts";
import type { Stage } from "../stage.ts";

/** An owner asks attest of an active node, and wipe of another machine whose agent lies at first. */
export async function requests(s: Stage): Promise<void> {
  s.teller.chapter("3. The owner asks: attest, then wipe");
  const before = await s.machines.disk("w1");
  const verdictAt = (await s.device("w1")).verdict?.at;
  await s.owner.request("w1", "attest");
  s.act("w1", "request", "the owner asks w1 to attest");
  await whileOwnerEdits(s, "w1", async () => {
    await s.until("w1", "attested", "w1 was netbooted by its BMC, attested, and boots its disk again", 90, async () => {
      const { run, verdict } = await s.device("w1");
      return (
        run?.kind === "attest" && run.result === "attested" && verdict?.result === "pass" && verdict.at !== verdictAt
      );
    });
    await s.until("w1", "back", "it runs Talos again", 60, async () => (await s.machines.state("w1")).runs === "talos");
    s.check(
      "w1",
      "disk-same",
      "attesting wrote nothing on its disk",
      (await s.machines.disk("w1")).sha256 === before.sha256,
    );
  });

  const machine = await s.machines.add({
    name: "w2",
    serial: "LAB-0002",
    number: 12,
    port: "port12",
    diskSerial: "DISK-W2",
    withBmc: true,
  });
  const eks = machine.eks.map((digest) => ({ digest, source: "SUPPLIER:delivery note 4711" }));
  await s.owner.declare({
    name: "w2",
    serial: "LAB-0002",
    number: 12,
    switchPort: "port12",
    diskSerial: "DISK-W2",
    eks,
    withBmc: true,
  });
  await s.machines.power("w2", "on", "pxe");
  await s.until("w2", "active", "w2 is installed like w1", 90, async () => (await s.owner.status("w2")) === "active");
  await s.until("w2", "joined", "w2 joined the cluster", 60, async () => (await s.machines.state("w2")).node === "w2");
  const installed = await s.machines.disk("w2");
  await s.owner.request("w2", "wipe");
  s.act("w2", "request", "the owner asks to wipe w2");
  await lyingAgent(s);
  s.check(
    "w2",
    "not-wiped",
    "the lie wrote nothing: the disk is as it was",
    (await s.machines.disk("w2")).sha256 === installed.sha256,
  );
  await s.machines.lies("w2", {});
  await s.owner.request("w2", "wipe");
  s.act("w2", "request", "the owner asks again, and the agent does it");
  await s.until("w2", "wiped", "w2 is wiped and stays planned", 90, async () => {
    const { run, status } = await s.device("w2");
    return run?.result === "wiped" && status === "planned";
  });
  s.check("w2", "bytes-gone", "its disk's first bytes are zero", /^0+$/.test((await s.machines.disk("w2")).hex));
  await s.until(
    "w2",
    "node-gone",
    "its Node is deleted",
    40,
    async () => (await s.lab.cluster.get("/api/v1/nodes/w2")) === null,
  );
  await s.until("w2", "no-install", "it is not installed again by itself", 40, () => s.hasCondition("w2", "NoRequest"));
}

/** The report of the last action alone makes the Workflow SUCCESS; fleetd believes it only with every action in order. */
async function lyingAgent(s: Stage): Promise<void> {
  await s.until("w2", "rendered", "its wipe is on the way", 60, async () => (await lastAction(s)) !== null);
  const instead = await lastAction(s);
  if (instead === null) return;
  await s.machines.lies("w2", { instead });
  s.act("w2", "lie", "its agent lies: it reports SUCCESS of the last action and does none");
  await s.until("w2", "lie-found", "fleetd does not believe a SUCCESS with an action missing", 90, async () => {
    const { run } = await s.device("w2");
    return run?.kind === "wipe" && run.result === "failed";
  });
}

interface RenderedWorkflow {
  readonly metadata: { readonly name: string };
  readonly status?: {
    readonly tasks?: readonly { readonly id: string; readonly actions: readonly { readonly id: string }[] }[];
  };
}

/** Task and last action of w2's running wipe, as the controller numbered them. */
async function lastAction(s: Stage): Promise<{ taskId: string; actionId: string } | null> {
  const { run } = await s.device("w2");
  if (run?.kind !== "wipe" || run.phase === "ended") return null;
  const path = `/apis/tinkerbell.org/v1alpha1/namespaces/tinkerbell/workflows/${run.name}`;
  const task = ((await s.lab.tinkerbell.get(path)) as RenderedWorkflow | null)?.status?.tasks?.[0];
  const action = task?.actions.at(-1);
  return task === undefined || action === undefined ? null : { taskId: task.id, actionId: action.id };
}
