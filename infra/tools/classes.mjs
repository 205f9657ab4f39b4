// Joins infra/classes/<class>.json to the one file that FLEET_CLASSES names.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [out = "classes.json", folder = "infra/classes"] = process.argv.slice(2);
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
