import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { countBranches, countsOfLoaded } from "./instrument.ts";
import { chanceOf, Loop } from "./loop.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string", default: "1" } },
});
const [target = ""] = positionals;
const seconds = Number(values.seconds);
const seed = Number(values.seed);

countBranches(/\/shared\/(formats|attest)\//);
const { TARGETS } = await import("./targets.ts");
const { corpusOf, SEEDS } = await import("./seeds.ts");
const run = TARGETS[target];
if (!run || !Number.isInteger(seed) || !(seconds > 0)) {
  console.error(`usage: npm run fuzz -- TARGET [--seconds N] [--seed S]\ntargets: ${Object.keys(TARGETS).join(" ")}`);
  process.exit(2);
}

const counts = countsOfLoaded();
const seeds = [...(SEEDS[target]?.() ?? []), ...corpusOf(target)];
const loop = new Loop({ target, run, counts, seeds, random: chanceOf(seed, target) });
const from = loop.inputs;
const endMs = performance.now() + seconds * 1000;
while (performance.now() < endMs) for (let i = 0; i < 50; i++) loop.turn();

const folder = new URL(`../corpus/${target}/`, import.meta.url);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const named = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex").slice(0, 16);
const kept = loop.minimised();
for (const bytes of kept) writeFileSync(new URL(named(bytes), folder), bytes);
console.log(
  `${target}: ${loop.runs} runs, ${from} inputs at first, ${kept.length} kept, ${loop.findings.length} findings`,
);
for (const { bytes, error } of loop.findings) {
  const file = new URL(`../corpus/${target}-finding-${named(bytes)}`, import.meta.url);
  writeFileSync(file, bytes);
  console.log(file.pathname, error instanceof Error ? error.stack : error);
}
process.exit(loop.findings.length > 0 ? 1 : 0);
