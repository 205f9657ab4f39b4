import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../infra/lab/world/ports.ts";
import { type PeerProcess, run, startProcess, untilReady } from "../_common/process.ts";
import { installSpire } from "./install.ts";

export const TRUST_DOMAIN = "lab.example";

/** What a server believes. */
export interface SpireTrust {
  /** PEM: the CA that LDevID certificates chain to. */
  readonly devidCa: string;
  /** PEM: the CAs that issue EK certificates directly; SPIRE fetches none between. */
  readonly endorsementCa: string;
}

/** What an agent has of its machine. */
export interface SpireNode {
  /** A character device or an swtpm's UNIX socket. */
  readonly tpmPath: string;
  /** PEM, the leaf first. */
  readonly certificates: string;
  /** TPM2B_PUBLIC and TPM2B_PRIVATE of a key below the default SRK. */
  readonly public: Uint8Array;
  readonly private: Uint8Array;
}

export interface SpireAgent {
  readonly process: PeerProcess;
  /** Null once it is attested; else what the server, or the agent of itself, said of it. */
  refused(): Promise<string | null>;
  /** X.509 SVIDs that this process is given, by SPIFFE ID; empty where it has none. */
  svids(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export interface SpireServer {
  readonly pids: readonly number[];
  /** A command of spire-server, on its socket. */
  tell(...words: readonly string[]): Promise<string>;
  /** Starts an agent with this identity; it attests anew, whoever did before. */
  agent(node: SpireNode): Promise<SpireAgent>;
  stop(): Promise<void>;
}

const ATTEST_MS = 60_000;
/** It tries again for ever; the first word of its server will do. */
const REFUSAL = /nodeattestor\(tpm_devid\): ([^"\n]+)/;
/** The size in front of a TPM2B: SPIRE wants what is behind it. */
const SIZE_BYTES = 2;

/** Starts a SPIRE server that attests nodes by tpm_devid alone. */
export async function startSpire(folder: string, trust: SpireTrust): Promise<SpireServer> {
  const programs = await installSpire();
  mkdirSync(folder, { recursive: true });
  const at = (name: string) => join(folder, name);
  writeFileSync(at("devid-ca.pem"), trust.devidCa);
  writeFileSync(at("endorsement-ca.pem"), trust.endorsementCa);
  const port = await freePort();
  const socket = at("server.sock");
  writeFileSync(
    at("server.conf"),
    `server {
  bind_address = "127.0.0.1"
  bind_port = "${port}"
  socket_path = "${socket}"
  trust_domain = "${TRUST_DOMAIN}"
  data_dir = "${folder}"
  log_level = "DEBUG"
}
plugins {
  DataStore "sql" { plugin_data { database_type = "sqlite3" connection_string = "${at("server.sqlite3")}" } }
  KeyManager "memory" { plugin_data {} }
  NodeAttestor "tpm_devid" {
    plugin_data { devid_ca_path = "${at("devid-ca.pem")}" endorsement_ca_path = "${at("endorsement-ca.pem")}" }
  }
}
`,
  );
  const log = at("server.log");
  const server = startProcess("spire-server", programs.server, ["run", "-config", at("server.conf")], log);
  const tell = (...words: readonly string[]) => run(programs.server, [...words, "-socketPath", socket]);
  await untilReady(server, log, () => tell("healthcheck").then(() => true));
  let agents = 0;
  const started: SpireAgent[] = [];
  return {
    pids: [server.pid],
    tell,
    async agent(node) {
      const home = at(`agent-${++agents}`);
      mkdirSync(home);
      writeFileSync(join(home, "bundle.pem"), await tell("bundle", "show"));
      const agent = await startAgent(programs.agent, home, port, node);
      started.push(agent);
      return agent;
    },
    async stop() {
      for (const agent of started) await agent.stop();
      await server.stop();
    },
  };
}

async function startAgent(program: string, home: string, port: number, node: SpireNode): Promise<SpireAgent> {
  const at = (name: string) => join(home, name);
  writeFileSync(at("devid.pem"), node.certificates);
  writeFileSync(at("devid.pub"), node.public.subarray(SIZE_BYTES));
  writeFileSync(at("devid.prv"), node.private.subarray(SIZE_BYTES), { mode: 0o600 });
  writeFileSync(
    at("agent.conf"),
    `agent {
  data_dir = "${home}"
  server_address = "127.0.0.1"
  server_port = "${port}"
  socket_path = "${at("api.sock")}"
  trust_bundle_path = "${at("bundle.pem")}"
  trust_domain = "${TRUST_DOMAIN}"
  log_level = "DEBUG"
}
plugins {
  KeyManager "memory" { plugin_data {} }
  NodeAttestor "tpm_devid" {
    plugin_data {
      tpm_device_path = "${node.tpmPath}"
      devid_cert_path = "${at("devid.pem")}"
      devid_pub_path = "${at("devid.pub")}"
      devid_priv_path = "${at("devid.prv")}"
    }
  }
  WorkloadAttestor "unix" { plugin_data {} }
}
`,
  );
  const log = at("agent.log");
  const agent = startProcess("spire-agent", program, ["run", "-config", at("agent.conf")], log);
  const words = () => readFileSync(log, "utf8");
  return {
    process: agent,
    async refused() {
      for (const untilMs = Date.now() + ATTEST_MS; Date.now() < untilMs; ) {
        if (words().includes("Node attestation was successful")) return null;
        const why = REFUSAL.exec(words())?.[1];
        if (why !== undefined) return why;
        if (!agent.running()) return words().slice(-1000);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return `nothing in ${ATTEST_MS / 1000} s`;
    },
    async svids() {
      const told = await run(program, ["api", "fetch", "x509", "-socketPath", at("api.sock")]).catch(() => "");
      return [...told.matchAll(/^SPIFFE ID:\s+(\S+)$/gm)].map((found) => found[1] ?? "");
    },
    stop: () => agent.stop(),
  };
}
