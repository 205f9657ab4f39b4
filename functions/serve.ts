import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import type { Hono } from "hono";
import { loadProfile, stagesWithoutAuthority } from "../shared/attest/profile.ts";
import { pass } from "../shared/engine/pass.ts";
import { readSettings, type Settings } from "../shared/runtime/config.ts";
import type { AdminDeps } from "../shared/runtime/deps.ts";
import { looseFiles } from "../shared/runtime/file-modes.ts";
import { followTls, readTls, refuseDeviceCaAsAdminCa, type TlsFiles } from "../shared/runtime/tls.ts";
import { checkSigner, type Wired, wire } from "../shared/runtime/wire.ts";
import { listeners } from "./listeners.ts";
import { policyFault } from "./policy-fault.ts";

const USAGE_EXIT_CODE = 64;
const SERVER = { requestTimeout: 60_000, headersTimeout: 10_000, keepAliveTimeout: 5_000, maxHeaderSize: 16_384 };

function tlsOf(cert: string | undefined, key: string | undefined, clientCa: string | undefined): TlsFiles | null {
  return cert === undefined || key === undefined ? null : { cert, key, clientCa: clientCa ?? null };
}

async function listen(
  app: Hono,
  address: string,
  tls: TlsFiles | null,
  say: (text: string) => void,
): Promise<ServerType> {
  const [, host = "", port = ""] = /^\[?([^\]]+)\]?:(\d+)$/.exec(address) ?? [];
  const server =
    tls === null
      ? createAdaptorServer({ fetch: app.fetch, createServer: createHttp, serverOptions: SERVER })
      : createAdaptorServer({
          fetch: app.fetch,
          createServer: createHttps,
          serverOptions: {
            ...SERVER,
            ...readTls(tls),
            minVersion: "TLSv1.2",
            // A bearer token is the other way in, so a missing certificate is not refused here but by the routes.
            ...(tls.clientCa === null ? {} : { requestCert: true, rejectUnauthorized: false }),
          },
        });
  if (tls !== null) followTls(server as Parameters<typeof followTls>[0], tls, say);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(Number(port), host, resolve);
  });
  return server;
}

async function startListeners(s: Settings, { deps, metrics }: Wired): Promise<ServerType[]> {
  const say = (text: string) => deps.log.info({}, text);
  const { device, admin, metric } = listeners(deps, metrics);
  return [
    await listen(
      device,
      s.FLEET_DEVICE_ADDRESS,
      tlsOf(s.FLEET_DEVICE_TLS_CERT, s.FLEET_DEVICE_TLS_KEY, undefined),
      say,
    ),
    await listen(
      admin,
      s.FLEET_ADMIN_ADDRESS,
      tlsOf(s.FLEET_ADMIN_TLS_CERT, s.FLEET_ADMIN_TLS_KEY, s.FLEET_ADMIN_CA),
      say,
    ),
    await listen(metric, s.FLEET_METRICS_ADDRESS, null, say),
  ];
}

async function stop(servers: readonly ServerType[]): Promise<never> {
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          if ("closeIdleConnections" in server) server.closeIdleConnections();
        }),
    ),
  );
  process.exit(0);
}

/** Runs passes here where no timer starts functions/reconcile: the in-process store lives in this process alone. */
function passesHere(s: Settings, deps: AdminDeps): void {
  if (s.FLEET_REDIS_URL !== undefined || s.FLEET_PASS_INTERVAL_MS === 0) return;
  const next = () =>
    setTimeout(async () => {
      await pass(deps.world).catch((error: unknown) =>
        deps.log.error({ error: (error as Error).message }, "pass failed"),
      );
      next();
    }, s.FLEET_PASS_INTERVAL_MS);
  next();
}

/** What does not stop a start, and what a person should mend all the same. */
async function tellWarnings({ deps, warn }: Wired): Promise<void> {
  const { profiles } = await deps.world.policy.current();
  for (const loose of looseFiles(process.env)) warn(loose);
  for (const one of Object.keys(profiles)) {
    const loaded = loadProfile(profiles[one]);
    for (const stage of loaded.ok ? stagesWithoutAuthority(loaded.profile) : [])
      warn(`FLEET_PROFILES: ${one}.json has no authority for ${stage}: no machine passes there by it`);
  }
}

if (process.argv.length > 2) {
  const asked = ["--help", "-h"].includes(process.argv[2] ?? "");
  process[asked ? "stdout" : "stderr"].write(
    "usage: npm run -s serve, settings in FLEET_* variables (infra/docs/settings.md)\n",
  );
  process.exit(asked ? 0 : USAGE_EXIT_CODE);
}
try {
  const settings = readSettings(process.env);
  const wired = await wire(settings, policyFault);
  await tellWarnings(wired);
  for (const issuers of [settings.FLEET_CA_CHAIN_FILE, settings.FLEET_CA_BUNDLE_FILE])
    if (settings.FLEET_ADMIN_CA !== undefined && issuers !== undefined)
      refuseDeviceCaAsAdminCa(settings.FLEET_ADMIN_CA, issuers);
  await checkSigner(settings, wired);
  const servers = await startListeners(settings, wired);
  passesHere(settings, wired.deps);
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => void stop(servers));
  process.stdout.write("ready\n");
} catch (error) {
  process.stderr.write(`fleetd does not start: ${(error as Error).message}\n`);
  process.exit(1);
}
