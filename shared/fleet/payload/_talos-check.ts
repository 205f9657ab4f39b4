import { z } from "zod";
import { inNetworks } from "../networks.ts";
import type { RenderInput } from "./_renderer.ts";

const certificateOnly = z.strictObject({ crt: z.string().min(1), key: z.literal("") });

/** What of the v1alpha1 document fleetd itself demands; Talos's own validation lets these pass (facts/talos.md 4.3). */
const machineSchema = z.looseObject({
  version: z.literal("v1alpha1"),
  machine: z.looseObject({
    type: z.literal("worker"),
    token: z.string().regex(/^[a-z0-9]{6}\.[a-z0-9]{16}$/),
    ca: certificateOnly,
    install: z.looseObject({
      diskSelector: z.strictObject({ serial: z.string() }),
      image: z.string().regex(/@sha256:[0-9a-f]{64}$/),
    }),
  }),
  cluster: z.looseObject({
    id: z.string().min(1),
    secret: z.string().min(1),
    token: z.string().regex(/^[a-z0-9]{6}\.[a-z0-9]{16}$/),
    ca: certificateOnly,
    controlPlane: z.looseObject({ endpoint: z.string().startsWith("https://") }),
  }),
});

const named = z.looseObject({ kind: z.string() });

/** The text itself, or what it says in base64 (secret bundles keep PEM that way). */
function decoded(text: string): string {
  if (!/^[A-Za-z0-9+/]{24,}={0,2}$/.test(text)) return text;
  try {
    return atob(text);
  } catch {
    return text;
  }
}

function privateKeyIn(value: unknown): boolean {
  if (typeof value === "string") return decoded(value).includes("PRIVATE KEY");
  if (typeof value !== "object" || value === null) return false;
  if ("crt" in value && "key" in value && value.key !== "") return true;
  return Object.values(value).some(privateKeyIn);
}

/**
 * Faults of a rendered configuration, in words without secrets; empty where it is fit to be served.
 * @see facts/talos.md 4.3
 */
export function talosFaults(documents: readonly unknown[], input: RenderInput): string[] {
  const faults: string[] = [];
  const [first, ...rest] = documents;
  const main = machineSchema.safeParse(first);
  if (!main.success) faults.push(...main.error.issues.map((i) => `${i.path.join(".")} is wrong`));
  else {
    if (main.data.cluster.token !== input.token) faults.push("cluster.token is not this node's");
    if (main.data.machine.install.diskSelector.serial !== input.disk.serial)
      faults.push("machine.install.diskSelector.serial is not the declared disk's");
    const { secretboxEncryptionSecret, etcd, aggregatorCA, serviceAccount } = main.data.cluster;
    if ([secretboxEncryptionSecret, etcd, aggregatorCA, serviceAccount].some((v) => v !== undefined))
      faults.push("cluster holds a control plane's secrets");
    const network = main.data.machine.network as { hostname?: unknown; interfaces?: unknown } | undefined;
    if (network?.hostname !== undefined || network?.interfaces !== undefined)
      faults.push("machine.network names a host or interfaces beside the documents");
  }
  if (privateKeyIn(first)) faults.push("it holds a private key");
  const kinds = rest.map((d) => named.safeParse(d).data?.kind ?? "?");
  if (new Set(kinds).size !== kinds.length) faults.push("a document comes twice");
  const host = rest.find((d) => named.safeParse(d).data?.kind === "HostnameConfig") as
    | { hostname?: string }
    | undefined;
  if (host?.hostname !== input.name) faults.push("HostnameConfig is not the device's name");
  const link = rest.find((d) => named.safeParse(d).data?.kind === "LinkConfig") as
    | { addresses?: unknown[]; routes?: { gateway?: unknown }[] }
    | undefined;
  if (link?.addresses?.length !== 1) faults.push("LinkConfig does not hold exactly one address");
  const gateway = String(link?.routes?.[0]?.gateway);
  // A link-local one is on every link.
  if (!inNetworks(gateway, [input.address, "fe80::/10"]))
    faults.push(`gateway ${gateway} lies outside of the network of ${input.address}`);
  return faults;
}
