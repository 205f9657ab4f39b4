import { writeFileSync } from "node:fs";

/** Writes a kubeconfig (mode 0600) with one context: server, its authority in PEM, and a token. */
export function writeKubeconfig(file: string, url: string, token: string, namespace: string, caPem: string): void {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: "lab",
        cluster: { server: url, "certificate-authority-data": Buffer.from(caPem).toString("base64") },
      },
    ],
    users: [{ name: "lab", user: { token } }],
    contexts: [{ name: "lab", context: { cluster: "lab", user: "lab", namespace } }],
    "current-context": "lab",
  };
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
