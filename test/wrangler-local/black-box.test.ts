import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { freePort } from "../../infra/lab/world/ports.ts";
import { startWorkerd } from "../../wrangler-local/start.ts";
import { attestBlackBox } from "../functions/attest/black-box.ts";
import type { Host } from "../functions/attest/box.ts";
import { type Peers, SESSION_MS } from "../functions/attest/peers.ts";

async function startOnWorkerd(peers: Peers): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), "fleetd-workerd-"));
  const { netbox, kubernetes, issuer } = peers;
  const { url, stop } = await startWorkerd({
    folder,
    port: await freePort(),
    kubernetes: { address: kubernetes.url.replace("https://", ""), caPem: kubernetes.caPem },
    bindings: {
      KUBERNETES_TOKEN: kubernetes.token,
      NAMESPACE: "tinkerbell",
      NETBOX_URL: netbox.url,
      NETBOX_TOKEN: netbox.token,
      NETBOX_ROLE: "fleet-node",
      NETBOX_USER: "fleetd",
      SESSION_KEY: "0123456789abcdef0123456789abcdef",
      TRUST_DOMAIN: "example.org",
      CA_KEY_PEM: issuer.keyPem,
      CA_CHAIN_PEM: issuer.chainPem,
      POLICY: JSON.stringify(peers.policy),
      DURATIONS: JSON.stringify({ inventoryCopyMs: 1, sessionMs: SESSION_MS }),
    },
  });
  return {
    url,
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe("attest on bare workerd", () => attestBlackBox(startOnWorkerd));
