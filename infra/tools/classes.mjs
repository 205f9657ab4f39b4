// Joins infra/classes/<class>.json to the one file that FLEET_CLASSES names.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [out, folder = "infra/classes", ...more] = process.argv.slice(2);
if (out === undefined || out.startsWith("-") || more.length > 0) {
  const asked = out === "--help" || out === "-h";
  process[asked ? "stdout" : "stderr"].write("usage: node infra/tools/classes.mjs OUT [FOLDER]\n");
  process.exit(asked ? 0 : 64);
}
const classes = {};
for (const file of readdirSync(folder)
  .filter((f) => f.endsWith(".json"))
  .sort()) {
  try {
    classes[file.slice(0, -5)] = JSON.parse(readFileSync(join(folder, file), "utf8"));
  } catch (error) {
    process.stderr.write(`${join(folder, file)}: ${error.message}\n`);
    process.exit(1);
  }
}
writeFileSync(out, `${JSON.stringify(classes, null, 2)}\n`);
