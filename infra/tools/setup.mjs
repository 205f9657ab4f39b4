// First install, for any Node from 20 on: `npm ci` only where the lock changed, then our own Node in node_modules/.bin.
// Plain JS and no dependency: it runs before there are any. Facts: npm 10 leaves .bin/node out when two arch packages are listed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const stamp = "node_modules/.fleetd-lock";
const lock = createHash("sha256").update(readFileSync("package-lock.json")).digest("hex");
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  process.stderr.write("setup: installing the packages of package-lock.json (once)\n");
  const npm = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: ["ignore", 2, 2],
    env: { ...process.env, ...nodeHeaders() },
  });
  if (npm.status !== 0) {
    process.stderr.write("setup: npm ci failed; see its message above\n");
    process.exit(1);
  }
  writeFileSync(stamp, lock);
}

/** pkcs11js (optional) is compiled: with the headers beside the Node that runs this, nothing is fetched for it. */
function nodeHeaders() {
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  return existsSync(`${prefix}/include/node/node_api.h`) ? { npm_config_nodedir: prefix } : {};
}

const own = `node-${process.platform}-${process.arch}/bin/node`;
if (!existsSync(`node_modules/${own}`)) {
  process.stderr.write(
    `setup: no Node 24 package for ${process.platform}-${process.arch}; fleetd runs on Linux x64 and arm64\n`,
  );
  process.exit(1);
}
const version = spawnSync("node_modules/.bin/node", ["--version"], { encoding: "utf8" }).stdout?.trim();
if (version !== "v24.21.0") {
  rmSync("node_modules/.bin/node", { force: true });
  symlinkSync(`../${own}`, "node_modules/.bin/node");
}
