// Writes registry.gen.ts of each kind folder (bmc, payload) from its file names, infra/docs/settings.md from the table
// of settings, infra/docs/conditions.md from the list of conditions, and infra/docs/examples/renew.openapi.json from the wire's schemas; --check only compares.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { openapiDocument } from "../../functions/openapi.ts";
import { conditionsDoc } from "./conditions-doc.ts";
import { settingsDoc } from "./settings-doc.ts";

const kinds = [
  { folder: "shared/fleet/bmc", type: "BmcType", from: "./_bmc.ts" },
  { folder: "shared/fleet/payload", type: "Renderer", from: "./_renderer.ts" },
];
const camel = (name) => name.replace(/-([a-z0-9])/g, (_, c) => c.toUpperCase());
let stale = 0;
for (const { folder, type, from } of kinds) {
  const names = readdirSync(folder)
    .filter((f) => f.endsWith(".ts") && !f.startsWith("_") && !f.endsWith(".gen.ts"))
    .map((f) => f.slice(0, -3))
    .sort();
  const text = [
    "// Written by infra/tools/gen.mjs from the files beside it: do not edit.",
    `import type { ${type} } from "${from}";`,
    ...names.map((n) => `import { ${camel(n)} } from "./${n}.ts";`),
    "",
    `export const registry: Readonly<Record<string, ${type}>> = {`,
    ...names.map((n) => `  ${/^[a-z0-9]+$/.test(n) ? n : JSON.stringify(n)}: ${camel(n)},`),
    "};",
    "",
  ].join("\n");
  keep(`${folder}/registry.gen.ts`, text);
}
keep("infra/docs/settings.md", settingsDoc());
keep("infra/docs/conditions.md", conditionsDoc());
keep("infra/docs/examples/renew.openapi.json", renewDoc());
process.exit(stale);

/** The renewal's routes of the OpenAPI document, for whoever writes a node's client. */
function renewDoc() {
  const { paths, ...rest } = openapiDocument();
  const renew = Object.fromEntries(Object.entries(paths).filter(([path]) => path.startsWith("/renew/")));
  return `${JSON.stringify({ ...rest, paths: renew }, null, 2)}\n`;
}

function keep(file, text) {
  let old = "";
  try {
    old = readFileSync(file, "utf8");
  } catch {
    // not written yet
  }
  if (old === text) return;
  if (process.argv.includes("--check")) {
    process.stderr.write(`${file} is stale: run 'just gen'\n`);
    stale = 1;
  } else writeFileSync(file, text);
}
