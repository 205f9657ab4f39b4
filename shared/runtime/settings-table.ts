import { z } from "zod";
import {
  address,
  count,
  digits,
  file,
  flag,
  idRange,
  inputFile,
  list,
  peers,
  secretFile,
  writableFolder,
} from "./setting-kinds.ts";
import { signerSchema } from "./signer-settings.ts";

/**
 * The table of settings: every FLEET_* variable, its default, what it must look like, and what it is for. The durations
 * of shared/fleet/limits.ts are settings too. infra/docs/settings.md is made from both (spec/00, "Settings").
 */
export const settingsSchema = z.object({
  FLEET_NETBOX_URL: z.url().describe("NetBox, as `https://netbox.example`"),
  FLEET_NETBOX_TOKEN_FILE: secretFile(1).describe("API token of fleetd's own account in NetBox"),
  FLEET_NETBOX_ROLE: z.string().default("fleet-node").describe("slug of the device role whose devices are the fleet"),
  FLEET_NETBOX_USER: z.string().default("fleetd").describe("name of that account: what it edits is no owner's request"),
  FLEET_TINKERBELL_KUBECONFIG: inputFile.describe(
    "kubeconfig of the cluster where Tinkerbell runs; records live there too",
  ),
  FLEET_TINKERBELL_NAMESPACE: z
    .string()
    .default("tinkerbell")
    .describe("namespace of Tinkerbell's objects and of the records"),
  FLEET_CLUSTER_KUBECONFIG: inputFile.describe("kubeconfig of the cluster that nodes join"),
  FLEET_REDIS_URL: z
    .string()
    .optional()
    .describe(
      "`redis://[user:password@]host:port[/database]`; without it the store is one process's memory, and passes run in it",
    ),
  FLEET_REDIS_PERSISTENCE: z
    .enum(["refuse", "accept"])
    .default("refuse")
    .describe(
      'whether to start on a Redis that writes to disk: configurations in it are cluster secrets, so that it should have `save ""` and `appendonly no`',
    ),
  FLEET_SESSION_KEY_FILE: file
    .optional()
    .describe(
      "one key, or two for a rotation (the new one first), one a line, at least 32 bytes each; required with FLEET_REDIS_URL",
    ),
  FLEET_WEBHOOK_SECRET_FILE: secretFile(16).describe("secret by which NetBox signs its webhooks, at least 16 bytes"),
  FLEET_CLASSES: inputFile.describe("JSON: class name → class; `infra/tools/classes.mjs` joins a folder to it"),
  FLEET_CLASS_INPUTS: inputFile
    .optional()
    .describe(
      'JSON of a build: `{"talos": {"image": "…", "tag": "v1.13.9", "digest": "sha256:<64 hex>"}}`; for classes without a pin of their own, and only with its digest',
    ),
  FLEET_PROFILES: inputFile.describe(
    "folder of boot policies, `<name>.json` and the PEMs that they name (`infra/profiles/README.md`)",
  ),
  FLEET_EK_PINS: inputFile
    .optional()
    .describe(
      'JSON: device name → its EK digests, `{"w1": ["sha256:<64 hex>"]}`; where given, a binding in NetBox that is outside of it is refused',
    ),
  FLEET_EK_ROOTS: inputFile
    .optional()
    .describe(
      "certificates of TPM manufacturers, PEM or DER, a file or a folder of files (folders inside are left alone): `claims` says which EK certificates chain to them, and nothing is approved by it",
    ),
  FLEET_TALOS_SECRETS_FILE: inputFile
    .optional()
    .describe("Talos' secret bundle (`talosctl gen secrets`), for classes with payload `talos`"),
  ...signerSchema,
  FLEET_TRUST_DOMAIN: z
    .string()
    .regex(/^[a-z0-9.-]{1,255}$/)
    .describe("SPIFFE trust domain: nodes are `spiffe://<domain>/node/<name>`"),
  FLEET_BMC_NETWORKS: list.describe(
    "networks in which BMC addresses may be, as `10.78.0.0/16`, parted by commas or blanks; with none, fleetd drives no BMC",
  ),
  FLEET_BMC_RPC_PORT: count(8090, 65_535).describe("port of the responders of BMC type `rpc`"),
  FLEET_TOOLS_IMAGE: z
    .string()
    .regex(/^[a-z0-9./:@_-]+$/i)
    .describe("image of the actions that wipe and install, best by digest"),
  FLEET_CONTROL_PLANES: flag(false).describe("whether classes with workload `controlplane` may be run at all"),
  FLEET_SHARD: idRange.describe(
    "NetBox ids that this `reconcile` looks after, as `1-5000`, for fleets that one pass is too slow for; the ranges of all must cover every id once, and each has a FLEET_SPIRE_NODES_FILE of its own, which the registrar reads all; without it, all ids",
  ),
  FLEET_MAX_DISK_RUNS: count(5, 10_000).describe("runs that may touch a disk at once"),
  FLEET_SWITCH_PORT: z
    .enum(["require", "report"])
    .default("require")
    .describe(
      "a machine at another switch port than NetBox declares, or without a readable LLDP frame: `require` refuses it at admission, `report` tells only",
    ),
  FLEET_UNVERIFIED_BOOT: z
    .enum(["refuse", "accept"])
    .default("refuse")
    .describe("whether machines of classes with `secureBoot: off` are admitted: nothing proves what those have booted"),
  FLEET_DEVICE_URL: z.url().describe("the device listener as machines reach it"),
  FLEET_DEVICE_ADDRESS: address("0.0.0.0:8443").describe("where the device listener listens"),
  FLEET_DEVICE_TLS_CERT: inputFile
    .optional()
    .describe("its certificate chain, PEM; read again when it changes; without it, plain HTTP behind a proxy"),
  FLEET_DEVICE_TLS_KEY: inputFile.optional().describe("the key of FLEET_DEVICE_TLS_CERT"),
  FLEET_ADMIN_ADDRESS: address("127.0.0.1:8444").describe("where the admin listener listens"),
  FLEET_ADMIN_TLS_CERT: inputFile
    .optional()
    .describe("its certificate chain, PEM; read again when it changes; needed with FLEET_ADMIN_CA"),
  FLEET_ADMIN_TLS_KEY: inputFile.optional().describe("the key of FLEET_ADMIN_TLS_CERT"),
  FLEET_ADMIN_CA: inputFile
    .optional()
    .describe(
      "PEM of what issues administrators' client certificates; neither an issuer of FLEET_CA_CHAIN_FILE nor one above it. This or FLEET_ADMIN_TOKEN_FILE is required",
    ),
  FLEET_ADMIN_TOKEN_FILE: secretFile(32).optional().describe("administrators' bearer token, at least 32 bytes"),
  FLEET_METRICS_ADDRESS: address("127.0.0.1:8446").describe(
    "where metrics, health and the status page listen, without a login",
  ),
  FLEET_SPIRE_NODES_FILE: file.describe("where fleetd writes the list of nodes for SPIRE"),
  FLEET_EVIDENCE_DIR: writableFolder
    .optional()
    .describe("folder for one bundle of each attestation (see below); without it none is kept"),
  FLEET_RATE_BEGIN: count(20, 1_000_000).describe(
    "attestations that one peer may begin a minute; twice as many of evidence and confirm",
  ),
  FLEET_TRUSTED_PROXIES: peers.describe(
    "addresses (no networks) of proxies whose X-Forwarded-For counts, its last entry alone; parted by commas or blanks",
  ),
  FLEET_PASS_INTERVAL_MS: digits
    .default(30_000)
    .describe(
      "rest between two passes of `serve` without Redis; 0: none by itself. With Redis, a timer runs `reconcile`",
    ),
  FLEET_CALL_TIMEOUT_MS: count(10_000, 600_000).describe("longest time for one call to NetBox or a Kubernetes API"),
  FLEET_LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("JSON lines on stderr from this level on"),
});
