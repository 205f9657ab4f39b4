import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ANSWERS, answeredBundle } from "./answers.ts";
import { vmBundle, vmSets } from "./to-bundle.ts";

// Evidence bundles of every recorded attestation and virtual machine, for fleetctl: node test/vectors/make-bundles.ts DIR

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("usage: node test/vectors/make-bundles.ts DIR\n");
  process.exit(64);
}
mkdirSync(folder, { recursive: true });
const bundles = [
  ...Object.keys(ANSWERS).map((file) => [file, answeredBundle(file)] as const),
  ...vmSets().map((set) => [`vm-${set.name}.json`, vmBundle(set)] as const),
];
for (const [file, bundle] of bundles) writeFileSync(join(folder, file), `${JSON.stringify(bundle)}\n`);
process.stdout.write(`${bundles.length} bundles in ${folder}\n`);
