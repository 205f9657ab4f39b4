// Runs dependency-cruiser and fails when it saw nothing: with an unfit TypeScript it reports "no violations" over zero modules.
import { spawnSync } from "node:child_process";

const folders = ["functions", "shared", "infra", "test", "wrangler-local"];
const run = spawnSync(
  "node_modules/.bin/depcruise",
  ["--config", ".dependency-cruiser.cjs", "--output-type", "json", ...folders],
  {
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  },
);
if (!run.stdout) {
  process.stderr.write(`guard: dependency-cruiser printed nothing\n${run.stderr}\n`);
  process.exit(1);
}
const { summary } = JSON.parse(run.stdout);
for (const v of summary.violations) process.stderr.write(`${v.rule.name}: ${v.from} → ${v.to}\n`);
const cruised = summary.totalCruised;
process.stdout.write(
  `guard: ${cruised} modules, ${summary.totalDependenciesCruised} dependencies, ${summary.violations.length} violations\n`,
);
if (cruised === 0) process.stderr.write("guard: zero modules cruised, so this proves nothing\n");
process.exit(cruised === 0 || summary.violations.length > 0 ? 1 : 0);
