import { build } from "esbuild";

/** Bundles the worker for workerd: the same handlers, web APIs and the node:crypto subset that workerd has. */
export async function buildWorker(outfile: string): Promise<void> {
  await build({
    entryPoints: [new URL("./worker.ts", import.meta.url).pathname],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "esnext",
    conditions: ["workerd", "worker", "browser"],
    // client-node is only named by a dynamic import that the worker never reaches.
    external: ["node:*", "cloudflare:*", "@kubernetes/client-node"],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
    logLevel: "warning",
  });
}

if (process.argv[1] === new URL(import.meta.url).pathname) await buildWorker(process.argv[2] ?? "dist/worker.mjs");
