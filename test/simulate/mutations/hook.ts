import { registerHooks } from "node:module";
import { MUTATIONS } from "./list.ts";

/** Loaded by `--import`: one line of one file reads otherwise in this process, and no file on disk is touched. */
const mutation = MUTATIONS.find((one) => one.name === process.env.FLEETD_MUTATION);
if (mutation === undefined) throw new Error(`no mutation ${process.env.FLEETD_MUTATION}`);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/${mutation.file}`)) return loaded;
    const source = String(loaded.source);
    const [before, after, ...more] = source.split(mutation.find);
    if (before === undefined || after === undefined || more.length > 0) {
      process.stderr.write(`${mutation.file} has not exactly one place of: ${mutation.find}\n`);
      process.exit(3);
    }
    return { ...loaded, source: `${before}${mutation.replace}${after}` };
  },
});
