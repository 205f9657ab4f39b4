import { randomBytes } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import { LabAuthority } from "../kubernetes/authority.ts";
import type { LabPaths } from "./paths.ts";

/** Words of the two kernel command lines that tell HookOS and the installed system apart (one key signs both). */
export const HOOKOS_MARKER = "fleet_hookos=1";
export const OS_MARKER = "fleet_os=talos";

export interface Material {
  readonly ownerToken: string;
  readonly fleetdToken: string;
  readonly adminToken: string;
  readonly webhookSecret: string;
  readonly kubeTokens: { readonly fleetd: string; readonly admin: string };
  /** Secure Boot certificates, PEM: the operator's, and one that no profile accepts. */
  readonly authority: { readonly good: string; readonly foreign: string };
}

function secret(file: string, text: string): string {
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  return text;
}

/** A `talosctl gen secrets` bundle in shape, for the lab's own cluster. */
function talosSecrets(clusterCaPem: string): string {
  const pair = (name: string) => ({
    crt: Buffer.from(new LabAuthority(name).pem).toString("base64"),
    key: randomBytes(48).toString("base64"),
  });
  const token = () => `${randomBytes(3).toString("hex")}.${randomBytes(8).toString("hex")}`;
  return stringify({
    cluster: { id: randomBytes(32).toString("base64"), secret: randomBytes(32).toString("base64") },
    secrets: { bootstraptoken: token(), secretboxencryptionsecret: randomBytes(32).toString("base64") },
    trustdinfo: { token: token() },
    certs: {
      etcd: pair("etcd"),
      k8s: { crt: Buffer.from(clusterCaPem).toString("base64"), key: randomBytes(48).toString("base64") },
      k8saggregator: pair("aggregator"),
      os: pair("talos"),
      k8sserviceaccount: { key: randomBytes(48).toString("base64") },
    },
  });
}

/** Makes the lab's secrets, certificates and profile: nothing of it outlives its folder. */
export function makeMaterial(paths: LabPaths): Material {
  const random = () => randomBytes(24).toString("base64url");
  const tls = new LabAuthority("fleetd lab");
  const server = tls.serverIdentity();
  writeFileSync(paths.tls.ca, tls.pem);
  writeFileSync(paths.tls.cert, server.certificate);
  writeFileSync(paths.tls.key, server.key, { mode: 0o600 });
  const issuer = new LabAuthority("fleetd lab device CA");
  writeFileSync(paths.issuer.chain, issuer.pem);
  writeFileSync(paths.issuer.key, issuer.keyPem(), { mode: 0o600 });
  const authority = {
    good: new LabAuthority("Lab Secure Boot").pem,
    foreign: new LabAuthority("Stranger Secure Boot").pem,
  };
  writeFileSync(paths.at("profiles/operator.pem"), authority.good);
  const profile = {
    name: "lab",
    bank: "sha256",
    authorities: [{ pem: "operator.pem", for: ["hookos", "os"] }],
    hookosMarker: HOOKOS_MARKER,
    osMarker: OS_MARKER,
  };
  writeFileSync(paths.at("profiles/lab.json"), `${JSON.stringify(profile, null, 2)}\n`);
  secret(paths.secrets.session, randomBytes(32).toString("hex"));
  return {
    ownerToken: secret(paths.secrets.owner, random()),
    fleetdToken: secret(paths.secrets.fleetd, random()),
    adminToken: secret(paths.secrets.admin, randomBytes(32).toString("base64url")),
    webhookSecret: secret(paths.secrets.webhook, random()),
    kubeTokens: { fleetd: random(), admin: random() },
    authority,
  };
}

/** What fleetd is told of the lab's cluster: its CA in the secret bundle, its address in every Talos class. */
export function describeCluster(
  paths: LabPaths,
  given: { readonly classes: string; readonly profiles: string | null },
  cluster: { readonly url: string; readonly caPem: string },
): string[] {
  secret(paths.secrets.talos, talosSecrets(cluster.caPem));
  if (given.profiles !== null) cpSync(given.profiles, paths.profiles, { recursive: true });
  const classes = JSON.parse(readFileSync(given.classes, "utf8")) as Record<string, { talos?: { endpoint: string } }>;
  for (const cls of Object.values(classes)) if (cls.talos !== undefined) cls.talos.endpoint = cluster.url;
  writeFileSync(paths.classes, `${JSON.stringify(classes, null, 2)}\n`);
  return Object.keys(classes);
}
