import { table } from "../../bench/measure.ts";
import { MUTATIONS } from "./list.ts";
import { planted } from "./planted.ts";

/**
 * Plants each mutation of the list alone and lets the seeds look for it: `npm run simulate:mutations [-- NAME …]`. Each must
 * be found by one of the first 100 seeds, in at most 300 steps; the scripts' within 100 × 120 calls. Prints which seed found
 * what; exit 1 where one was not found, or does not fit its file any more.
 */
const SEEDS = 100;

const asked = process.argv.slice(2);
const chosen = asked.length === 0 ? MUTATIONS : MUTATIONS.filter(({ name }) => asked.includes(name));
const rows: string[][] = [["mutation", "file", "caught by", "seed", "s"]];
let missed = 0;
for (const mutation of chosen) {
  const startedMs = performance.now();
  const found = planted(mutation, 1, SEEDS);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  const caught = found !== null && typeof found !== "string";
  if (!caught) missed++;
  rows.push([
    mutation.name,
    mutation.file,
    typeof found === "string" ? found : (found?.by ?? "NOT CAUGHT"),
    caught ? String(found.seed) : "-",
    seconds,
  ]);
  process.stderr.write(
    `${mutation.name}: ${caught ? `${found.by}: ${found.text.slice(0, 160)}` : (found ?? "not caught")}\n`,
  );
}
process.stdout.write(`${table(rows)}\n${chosen.length - missed} of ${chosen.length} caught\n`);
process.exit(missed === 0 ? 0 : 1);
