import { parse, stringify } from "yaml";
import { z } from "zod";
import type { Rendered, Renderer, RenderInput } from "./_renderer.ts";
import { talosFaults } from "./_talos-check.ts";

const pair = z.looseObject({ crt: z.string() });

/** A `talosctl gen secrets` bundle, as far as a worker may see it (facts/talos.md 4.2). */
const secretsSchema = z.looseObject({
  cluster: z.looseObject({ id: z.string(), secret: z.string() }),
  trustdinfo: z.looseObject({ token: z.string() }),
  certs: z.looseObject({ os: pair, k8s: pair }),
});

type Tree = Record<string, unknown>;

/** Merges a class's patch into the configuration: maps by key, everything else replaced. */
function merge(base: Tree, patch: Tree): Tree {
  const isTree = (v: unknown): v is Tree => typeof v === "object" && v !== null && !Array.isArray(v);
  const out: Tree = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    const old = out[key];
    out[key] = isTree(old) && isTree(value) ? merge(old, value) : value;
  }
  return out;
}

function render(input: RenderInput): Rendered {
  const { talos, network } = input.class.class;
  const pin = input.class.pin;
  if (talos === undefined) return { ok: false, reason: `class ${input.class.name} has no talos section` };
  if (network === undefined) return { ok: false, reason: `class ${input.class.name} has no network section` };
  if (pin?.kind !== "installer") return { ok: false, reason: `class ${input.class.name} has no installer by digest` };
  if (input.token === null) return { ok: false, reason: "a Talos worker needs its own bootstrap token" };
  const minor = Number(/^v?1\.(\d+)/.exec(talos.version)?.[1] ?? 0);
  if (minor < 12 || minor > 14)
    return { ok: false, reason: `Talos ${talos.version}: this renderer writes documents for 1.12 to 1.14` };
  const secrets = secretsSchema.safeParse(input.talosSecrets);
  if (!secrets.success) return { ok: false, reason: "FLEET_TALOS_SECRETS_FILE is not a `talosctl gen secrets` bundle" };
  const { cluster, trustdinfo, certs } = secrets.data;
  const machineConfig = merge(talos.patch ?? {}, {
    version: "v1alpha1",
    machine: {
      type: "worker",
      token: trustdinfo.token,
      ca: { crt: certs.os.crt, key: "" },
      install: { diskSelector: { serial: input.disk.serial }, image: pin.installer, wipe: false },
      files: Object.entries(input.identityFiles).map(([name, content]) => ({
        path: `/var/lib/fleetd/${name}`,
        permissions: 0o600,
        op: "create",
        content,
      })),
    },
    cluster: {
      id: cluster.id,
      secret: cluster.secret,
      controlPlane: { endpoint: talos.endpoint },
      token: input.token,
      ca: { crt: certs.k8s.crt, key: "" },
    },
  });
  const documents: Tree[] = [
    machineConfig,
    { apiVersion: "v1alpha1", kind: "HostnameConfig", hostname: input.name },
    {
      apiVersion: "v1alpha1",
      kind: "LinkAliasConfig",
      name: "net0",
      selector: { match: `mac(link.permanent_addr) == "${input.mac}"` },
    },
    {
      apiVersion: "v1alpha1",
      kind: "LinkConfig",
      name: "net0",
      addresses: [{ address: input.address }],
      routes: [{ gateway: input.gateway ?? network.gateway }],
    },
    {
      apiVersion: "v1alpha1",
      kind: "ResolverConfig",
      nameservers: network.nameservers.map((address) => ({ address })),
    },
  ];
  const body = documents.map((d) => stringify(d, { lineWidth: 0 })).join("---\n");
  const faults = talosFaults(
    body.split(/^---\n/m).map((d) => parse(d) as unknown),
    input,
  );
  return faults.length > 0
    ? { ok: false, reason: `the rendered configuration is not fit: ${faults.join("; ")}` }
    : { ok: true, contentType: "application/yaml", body };
}

/** Talos machine configuration for a worker, one stream of documents (spec/40, "Payload kinds"; facts/talos.md 4.2). */
export const talos: Renderer = { needsToken: (cls) => cls.class.workload === "worker", render };
