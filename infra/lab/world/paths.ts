import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** Where everything of one lab lies. */
export function labPaths(stateFolder: string) {
  const root = resolve(stateFolder);
  const at = (name: string) => join(root, name);
  for (const folder of ["", "tls", "profiles", "evidence", "logs", "options", "machines", "secrets"])
    mkdirSync(at(folder), { recursive: true, mode: 0o700 });
  return {
    root,
    at,
    labJson: at("lab.json"),
    envFile: at("fleetd.env"),
    log: (name: string) => at(`logs/${name}.log`),
    options: (name: string) => at(`options/${name}.json`),
    tls: { ca: at("tls/ca.pem"), cert: at("tls/server.pem"), key: at("tls/server.key") },
    issuer: { key: at("secrets/device-ca.key"), chain: at("tls/device-ca.pem") },
    secrets: {
      session: at("secrets/session.key"),
      webhook: at("secrets/webhook"),
      admin: at("secrets/admin.token"),
      owner: at("secrets/netbox-owner.token"),
      fleetd: at("secrets/netbox-fleetd.token"),
      talos: at("secrets/talos-secrets.yaml"),
    },
    classes: at("classes.json"),
    profiles: at("profiles"),
    evidence: at("evidence"),
    spireNodes: at("spire-nodes.json"),
    adminKubeconfig: {
      tinkerbell: at("secrets/tinkerbell-admin.kubeconfig"),
      cluster: at("secrets/cluster-admin.kubeconfig"),
    },
    kubeconfig: { tinkerbell: at("secrets/tinkerbell.kubeconfig"), cluster: at("secrets/cluster.kubeconfig") },
  };
}

export type LabPaths = ReturnType<typeof labPaths>;
