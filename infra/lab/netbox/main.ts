import { readFileSync } from "node:fs";
import { type LabNetBoxOptions, startLabNetBox } from "./lab-netbox.ts";

// As a process of its own: options by a JSON file, `ready <url>` as the first line, ends on SIGTERM.
const file = process.argv[2];
if (file === undefined) {
  process.stderr.write("usage: main.ts OPTIONS.json\n");
  process.exit(2);
}
const netbox = await startLabNetBox(JSON.parse(readFileSync(file, "utf8")) as LabNetBoxOptions);
process.stdout.write(`ready ${netbox.url}\n`);
const stop = () => void netbox.close().then(() => process.exit(0));
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
