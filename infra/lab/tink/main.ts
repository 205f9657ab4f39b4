import { readFileSync } from "node:fs";
import { startLabTink } from "./start.ts";

const tink = await startLabTink(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
process.once("SIGTERM", () => void tink.close().then(() => process.exit(0)));
process.stdout.write(`ready ${tink.url}\n`);
