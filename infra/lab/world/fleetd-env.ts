import { writeFileSync } from "node:fs";
import type { LabPaths } from "./paths.ts";

/** Durations of the lab: shorter than production's, printed at start; no other code differs. */
export const LAB_DURATIONS: Readonly<Record<string, number>> = {
  FLEET_TOKEN_AFTER_APPROVAL_MS: 3_000,
  FLEET_RETRY_FIRST_MS: 2_000,
  FLEET_RETRY_LAST_MS: 8_000,
  FLEET_DRAIN_MS: 6_000,
  FLEET_INVENTORY_COPY_MS: 500,
  FLEET_RENEW_INTERVAL_MS: 10,
};

export interface FleetdEnvInput {
  readonly netboxUrl: string;
  readonly netboxRole: string;
  readonly devicePort: number;
  readonly adminPort: number;
  readonly metricsPort: number;
  readonly bmcPort: number;
  /** The first two bytes of the BMCs' addresses. */
  readonly bmcPrefix: string;
  readonly redisUrl: string | null;
}

/** fleetd's settings in this lab; the env file has the same for curl and tests. */
export function fleetdEnv(paths: LabPaths, input: FleetdEnvInput): Record<string, string> {
  const env: Record<string, string> = {
    FLEET_NETBOX_URL: input.netboxUrl,
    FLEET_NETBOX_TOKEN_FILE: paths.secrets.fleetd,
    FLEET_NETBOX_ROLE: input.netboxRole,
    FLEET_NETBOX_USER: "fleetd",
    FLEET_TINKERBELL_KUBECONFIG: paths.kubeconfig.tinkerbell,
    FLEET_TINKERBELL_NAMESPACE: "tinkerbell",
    FLEET_CLUSTER_KUBECONFIG: paths.kubeconfig.cluster,
    FLEET_SESSION_KEY_FILE: paths.secrets.session,
    FLEET_WEBHOOK_SECRET_FILE: paths.secrets.webhook,
    FLEET_CLASSES: paths.classes,
    FLEET_PROFILES: paths.profiles,
    FLEET_TALOS_SECRETS_FILE: paths.secrets.talos,
    FLEET_CA_KEY_FILE: paths.issuer.key,
    FLEET_CA_CHAIN_FILE: paths.issuer.chain,
    FLEET_TRUST_DOMAIN: "lab.example",
    FLEET_BMC_NETWORKS: `${input.bmcPrefix}.0.0/16`,
    FLEET_BMC_RPC_PORT: String(input.bmcPort),
    FLEET_TOOLS_IMAGE: "registry.lab/tink-reprovision-tools:1",
    FLEET_DEVICE_URL: `https://127.0.0.1:${input.devicePort}`,
    FLEET_DEVICE_ADDRESS: `127.0.0.1:${input.devicePort}`,
    FLEET_DEVICE_TLS_CERT: paths.tls.cert,
    FLEET_DEVICE_TLS_KEY: paths.tls.key,
    FLEET_ADMIN_ADDRESS: `127.0.0.1:${input.adminPort}`,
    FLEET_ADMIN_TLS_CERT: paths.tls.cert,
    FLEET_ADMIN_TLS_KEY: paths.tls.key,
    FLEET_ADMIN_TOKEN_FILE: paths.secrets.admin,
    FLEET_METRICS_ADDRESS: `127.0.0.1:${input.metricsPort}`,
    FLEET_SPIRE_NODES_FILE: paths.spireNodes,
    FLEET_EVIDENCE_DIR: paths.evidence,
    // The lab's machines all come from one loopback address.
    FLEET_RATE_BEGIN: "6000",
    FLEET_PASS_INTERVAL_MS: "0",
    ...Object.fromEntries(Object.entries(LAB_DURATIONS).map(([k, v]) => [k, String(v)])),
  };
  if (input.redisUrl !== null) env.FLEET_REDIS_URL = input.redisUrl;
  const text = Object.entries(env).map(([k, v]) => `${k}='${v}'`);
  writeFileSync(paths.envFile, `${text.join("\n")}\n`, { mode: 0o600 });
  return env;
}
