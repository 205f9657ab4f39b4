import { type Command, JSON_OPTION, UsageError } from "./_command.ts";
import { NO_ANSWER, REFUSED } from "./answer.ts";
import { readInput } from "./files.ts";
import { applyInventory } from "./inventory/apply.ts";
import { readNodes } from "./inventory/nodes-file.ts";
import { planInventory } from "./inventory/plan.ts";
import { readInventory } from "./inventory/state.ts";
import { stepText } from "./inventory/step.ts";
import { OWNER_NETBOX_HELP, ownerNetBox, PLANNED, roleOf } from "./owner-netbox.ts";
import { type Planned, runPlanned } from "./planned.ts";
import { plain } from "./text.ts";

const FAULTY = 4;

/** An owner's nodes file in NetBox. @see infra/docs/inventory.md */
export const inventoryApply: Command = {
  name: "inventory apply",
  operands: "FILE…",
  summary: "declare the machines of a nodes file in NetBox: devices, ports, cables, addresses, keys",
  details: [
    "Compares nodes files (infra/docs/inventory.md; - is stdin) with NetBox and shows what NetBox lacks: devices, interfaces, MACs,",
    "cables to switch ports, addresses, prefixes, approved EKs and fleetd's other fields of an owner. Nothing is done without --apply.",
    "Nothing is ever deleted, nothing that the files leave out is touched, and neither status nor desired_action of a device that is",
    "there. A new device is planned, which asks for its first install. What would break another device (a serial, key, disk, MAC, BMC,",
    "address or switch port that it holds) is refused, and then nothing at all is done. A second run plans nothing.",
    "",
    OWNER_NETBOX_HELP,
    "",
    "With --json: {steps: [{do, text, …}], refused, notes, done, applied, fault}.",
  ].join("\n"),
  options: {
    role: { type: "string", placeholder: "SLUG", help: "FLEET_NETBOX_ROLE; default fleet-node" },
    apply: { type: "boolean", help: "carry the plan out" },
    json: JSON_OPTION,
  },
  exitCodes: {
    0: "nothing to do, or all was done",
    [REFUSED]: "refused: the files and NetBox contradict each other, or NetBox refused",
    [NO_ANSWER]: "no answer; what was told as done is done, and another run does the rest",
    [PLANNED]: "there is something to do, and nothing was done: --apply was not given",
    [FAULTY]: "a file cannot be read, or is no nodes file",
  },
  async run(args, io) {
    if (args.files.length === 0) throw new UsageError("at least one nodes file");
    const role = roleOf(args, io);
    const netbox = ownerNetBox(io);
    const file = await nodesOf(args.files);
    if (!file.ok) {
      for (const fault of file.faults) io.err(plain(`fleetctl inventory apply: ${fault}`));
      return FAULTY;
    }
    const look = async (): Promise<Planned> => {
      const state = await readInventory(netbox, role, file);
      const plan = planInventory(file, state, role);
      const { refused, notes } = plan;
      const steps = plan.steps.map(stepText);
      const heading = `${file.nodes.size} ${file.nodes.size === 1 ? "node" : "nodes"} of the files`;
      return {
        shown: { steps: plan.steps.map((step) => ({ ...step, text: stepText(step) })) },
        steps,
        refused,
        notes,
        lines: (act) => [heading, ...(act ? [] : steps.map((text) => `  ${text}`))],
        apply: (done) => applyInventory(netbox.client, plan.steps, state, (step) => done(stepText(step))),
      };
    };
    const done = (title: string) => `  done: ${title}`;
    return runPlanned({ name: "inventory apply", unread: { steps: [] }, done, look }, args, io);
  },
};

async function nodesOf(paths: readonly string[]): Promise<ReturnType<typeof readNodes>> {
  const files: { name: string; text: string }[] = [];
  const faults: string[] = [];
  for (const path of paths) {
    const bytes = await readInput(path);
    const text = typeof bytes === "string" ? null : textOf(bytes);
    if (text !== null) files.push({ name: path, text });
    else faults.push(`${path}: ${typeof bytes === "string" ? bytes : "is no text in UTF-8"}`);
  }
  const read = readNodes(files);
  return faults.length === 0 ? read : { ok: false, faults: [...faults, ...(read.ok ? [] : read.faults)] };
}

/** UTF-16 without a mark is UTF-8 to the letter, with zeros in between. */
function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
