import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { installAll, runSystem, type SystemReport, systems } from "./_common/systems.ts";

const USAGE = `usage: npm run test:peers -- [--report FILE] [--again MINUTES] [SYSTEM …]
  --again: a system that failed is run once more, if not more than so many minutes are over; both results are told
  SYSTEM: one of ${systems().join(", ")} (all of them without one)`;

// Installs the real peers, and starts, tests and stops them, one after another. Exit: 0 all passed, 1 not so, 64 usage.
function options(): { wanted: readonly string[]; report: string | undefined; againMs: number } {
  try {
    const { values, positionals } = parseArgs({
      options: { report: { type: "string" }, again: { type: "string", default: "0" } },
      allowPositionals: true,
    });
    if (!/^\d{1,3}$/.test(values.again)) throw new Error("--again takes whole minutes");
    const unknown = positionals.filter((name) => !systems().includes(name));
    if (unknown.length > 0) throw new Error(`no such system: ${unknown.join(", ")}`);
    // Before hours of work, not after it.
    if (values.report !== undefined) mkdirSync(dirname(values.report), { recursive: true });
    return {
      wanted: positionals.length > 0 ? positionals : systems(),
      report: values.report,
      againMs: Number(values.again) * 60_000,
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : "?"}\n${USAGE}\n`);
    process.exit(64);
  }
}

const { wanted, report, againMs } = options();
const begunMs = Date.now();
const reports: SystemReport[] = [];
const failedFirst: SystemReport[] = [];
for (const [name, installed] of installAll(wanted)) {
  let found = await runSystem(name, installed);
  if (found.failed > 0 && Date.now() - begunMs < againMs) {
    // Real systems have races of their own (README.md, Rufio's Jobs): a second failure is no chance.
    process.stdout.write(`== ${name}: ${found.failed} failed; once more\n`);
    failedFirst.push(found);
    for (const [again, end] of installAll([name])) found = await runSystem(again, end);
  }
  reports.push(found);
}

const sum = (read: (one: SystemReport) => number) => reports.reduce((total, one) => total + read(one), 0);
const line = (cells: readonly (string | number)[]) =>
  process.stdout.write(
    `${cells.map((cell, i) => (i === 0 ? `${cell}`.padEnd(12) : `${cell}`.padStart(10))).join("")}\n`,
  );
process.stdout.write("\n");
line(["peer", "install s", "tests s", "peak MiB", "passed", "failed"]);
for (const one of reports)
  line([one.name, one.installSeconds, one.testSeconds, one.peakMebibytes, one.passed, one.failed]);
for (const one of failedFirst)
  process.stdout.write(`${one.name}: at the first try ${one.passed} passed, ${one.failed} failed\n`);
const passed = sum((one) => one.passed);
const failed = sum((one) => one.failed);
if (report !== undefined)
  writeFileSync(report, `${JSON.stringify({ passed, failed, systems: reports, failedFirst }, null, 2)}\n`);
const minutes = ((Date.now() - begunMs) / 60_000).toFixed(1);
process.stdout.write(`\npeers: ${passed} passed, ${failed} failed, in ${minutes} minutes\n`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
