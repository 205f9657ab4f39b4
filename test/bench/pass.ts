import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownerOf } from "../contracts/netbox-owner.ts";
import { table } from "./measure.ts";

/**
 * What a pass costs at 100, 1,000 and 10,000 running workers: CPU and memory of a process of its own, calls by peer. The
 * peers are the lab's, in another process. `npm run bench:pass [-- DEVICES …]`
 */
const sizes = process.argv.slice(2).map(Number);
const fleets = sizes.length > 0 ? sizes : [100, 1000, 10_000];
const here = import.meta.dirname;

interface Peers {
  readonly netbox: string;
  readonly owner: string;
  readonly firstId: number;
}

interface Cost {
  readonly startMs: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly maxRssMib: number;
  readonly looked: number;
  readonly steps: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly storeCalls: number;
}

type Look = "whole" | "between" | number;
const rows: string[][] = [
  [
    "devices, pass",
    "start s",
    "CPU s",
    "wall s",
    "max MiB",
    "looked at",
    "steps",
    "NetBox",
    "Tinkerbell",
    "cluster",
    "store",
  ],
];

function ready(child: ChildProcess): Promise<Peers> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (part: Buffer) => {
      text += part.toString();
      const line = /^ready (.*)$/m.exec(text);
      if (line !== null) resolve(JSON.parse(line[1] ?? "") as Peers);
    });
    child.once("exit", (code) => reject(new Error(`the peers ended with ${code}`)));
  });
}

async function measure(devices: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "fleetd-bench-pass-"));
  const child = spawn(process.execPath, [join(here, "pass/peers.ts"), folder, String(devices)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const peers = await ready(child);
    const owner = ownerOf(peers.netbox, peers.owner);
    const kubeconfigs = { tinkerbell: join(folder, "tinkerbell"), cluster: join(folder, "cluster") };
    const one = (what: string, look: Look, shard: { from: number; to: number } | null = null) => {
      const order = {
        ...peers,
        kubeconfigs,
        spireNodes: join(folder, `spire-${shard?.from ?? "all"}.json`),
        look,
        shard,
      };
      const answer = execFileSync(process.execPath, [join(here, "pass/one.ts"), JSON.stringify(order)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      add(`${devices}, ${what}`, JSON.parse(answer.toString()) as Cost);
    };
    const edit = async (from: number, to: number, body: object) => {
      const ids = Array.from({ length: to - from }, (_, n) => peers.firstId + from + n);
      for (let at = 0; at < ids.length; at += 100)
        await owner.must(
          "PATCH",
          "/api/dcim/devices/",
          ids.slice(at, at + 100).map((id) => ({ id, ...body })),
        );
    };
    one("whole walk, steady", "whole");
    one("between walks, steady", "between");
    one("webhook, one device", peers.firstId + 1);
    const part = Math.max(1, devices / 100);
    await edit(0, part, { custom_fields: { desired_action: "attest" } });
    one("between, 1 % asked for attest", "between");
    one("between, 1 % under way", "between");
    await edit(0, devices, { comments: "moved" });
    one("between, all rows moved", "between");
    one("whole walk, 1 % under way", "whole");
    const half = { from: peers.firstId, to: peers.firstId + devices / 2 - 1 };
    one("whole walk of a shard of half", "whole", half);
  } finally {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function add(what: string, cost: Cost): void {
  const peer = (name: string) => String(cost.requests[name] ?? 0);
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  process.stderr.write(`${what}: ${seconds(cost.cpuMs)} s CPU, ${seconds(cost.wallMs)} s\n`);
  rows.push([
    what,
    seconds(cost.startMs),
    seconds(cost.cpuMs),
    seconds(cost.wallMs),
    cost.maxRssMib.toFixed(0),
    ...[String(cost.looked), String(cost.steps), peer("netbox"), peer("tinkerbell"), peer("cluster")],
    String(cost.storeCalls),
  ]);
}

for (const devices of fleets) await measure(devices);
process.stdout.write(`${table(rows)}\n`);
