import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { argumentsOf, inputFault, leave, stateFault } from "./arguments.ts";
import { type Lab, startLab } from "./world/lab.ts";
import { NAMESPACE, ROLE } from "./world/peers.ts";

const PASS_EVERY_MS = 1_000;

const USAGE = "usage: npm run -s lab -- --state DIR [--classes FILE] [--profiles DIR]";

const args = argumentsOf(USAGE, {
  state: { type: "string" },
  classes: { type: "string" },
  profiles: { type: "string" },
});
const state = args.state ?? leave(USAGE, "--state DIR is needed");
const faults = [
  ["--state", state, stateFault(state)],
  ["--classes", args.classes, args.classes === undefined ? null : inputFault(args.classes, "file")],
  ["--profiles", args.profiles, args.profiles === undefined ? null : inputFault(args.profiles, "folder")],
];
for (const [option, path, fault] of faults) if (fault !== null) leave(USAGE, `${option} ${path} ${fault}`);

/** lab.json, as spec/70 has it: addresses, tokens' files, process ids. */
async function describeLab(lab: Lab): Promise<object> {
  const { paths, urls, found } = lab;
  const overview = (await (await fetch(`${urls.machines}/`)).json()) as { tpm: string; firmware: unknown };
  return {
    pid: process.pid,
    redis: found.redis === null ? "memory" : "redis",
    tpm: overview.tpm,
    device: { url: urls.device, ca: paths.tls.ca, tokenFile: null },
    admin: { url: urls.admin, ca: paths.tls.ca, tokenFile: paths.secrets.admin },
    metrics: { url: urls.metrics, ca: null, tokenFile: null },
    netbox: {
      url: urls.netbox,
      tokenFile: paths.secrets.owner,
      fleetdTokenFile: paths.secrets.fleetd,
      webhookSecretFile: paths.secrets.webhook,
      role: ROLE,
    },
    tinkerbell: { kubeconfig: paths.at("secrets/tinkerbell-admin.kubeconfig"), namespace: NAMESPACE },
    cluster: { kubeconfig: paths.at("secrets/cluster-admin.kubeconfig"), namespace: "default" },
    machines: { url: urls.machines },
    redisUrl: lab.redisUrl,
    issuerBundle: paths.issuer.chain,
    spireNodes: paths.spireNodes,
    classes: lab.classes,
    firmware: overview.firmware,
    evidence: paths.evidence,
    envFile: paths.envFile,
    pids: Object.fromEntries(lab.processes.map((p) => [p.name, p.pid])),
  };
}

const lab = await startLab({
  state,
  classes: args.classes ?? fileURLToPath(new URL("./defaults/classes.json", import.meta.url)),
  profiles: args.profiles ?? null,
  passEveryMs: PASS_EVERY_MS,
});
const stopped = new Promise<void>((resolve) => {
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => resolve());
});
writeFileSync(lab.paths.labJson, `${JSON.stringify(await describeLab(lab), null, 2)}\n`, { mode: 0o600 });
process.stdout.write(`ready ${lab.paths.labJson}\n`);
await stopped;
process.stderr.write("lab: stopping\n");
await lab.stop();
process.exit(0);
