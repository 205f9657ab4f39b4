import { type Door, openDoor } from "./door.ts";
import { LabMachines, readOptions } from "./machines.ts";

// As a process of its own: options by a JSON file, `ready <url of the control door>` as the first line, ends on SIGTERM.
const file = process.argv[2];
if (file === undefined) {
  process.stderr.write("usage: main.ts OPTIONS.json\n");
  process.exit(2);
}
const options = readOptions(file);
const started = LabMachines.start(options);
let door: Door | null = null;
const stop = async () => {
  await door?.close();
  await (await started).close();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
door = await openDoor(await started, options.port);
process.stdout.write(`ready ${door.url}\n`);
