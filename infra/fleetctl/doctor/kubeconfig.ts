import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const kubeconfig = z.object({
  "current-context": z.string(),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string().optional() }) }),
  ),
  clusters: z.array(
    z.object({
      name: z.string(),
      cluster: z.object({
        server: z.string(),
        "certificate-authority": z.string().optional(),
        "certificate-authority-data": z.string().optional(),
        "insecure-skip-tls-verify": z.boolean().optional(),
      }),
    }),
  ),
  users: z
    .array(
      z.object({
        name: z.string(),
        user: z
          .object({ "client-certificate": z.string().optional(), "client-certificate-data": z.string().optional() })
          .nullish(),
      }),
    )
    .nullish(),
});

/** What a kubeconfig's current context says of the server and the credential. */
export interface Kubeconfig {
  readonly server: string;
  /** PEM of what issued the server's certificate. */
  readonly ca: string | undefined;
  /** The server's certificate is not looked at. */
  readonly insecure: boolean;
  /** PEM of the caller's own; null where it goes by a token or another way. */
  readonly clientCertificate: string | null;
}

/** @throws Error where the file, or one that it names, cannot be read, or is none */
export function readKubeconfig(file: string): Kubeconfig {
  const read = kubeconfig.safeParse(parse(readFileSync(file, "utf8")));
  if (!read.success) {
    const where = read.error.issues[0]?.path.join(".") ?? "";
    throw new Error(`${file} is no kubeconfig: ${where === "" ? "it is empty, or no object" : `it lacks ${where}`}`);
  }
  const config = read.data;
  const context = config.contexts.find((one) => one.name === config["current-context"])?.context;
  const cluster = config.clusters.find((one) => one.name === context?.cluster)?.cluster;
  if (cluster === undefined) throw new Error(`${file} has no current cluster`);
  const user = config.users?.find((one) => one.name === context?.user)?.user;
  const pem = (data: string | undefined, path: string | undefined) => {
    if (data !== undefined && data !== "") return Buffer.from(data, "base64").toString();
    return path === undefined || path === "" ? undefined : readFileSync(resolve(dirname(file), path), "utf8");
  };
  return {
    server: cluster.server.replace(/\/+$/, ""),
    ca: pem(cluster["certificate-authority-data"], cluster["certificate-authority"]),
    insecure: cluster["insecure-skip-tls-verify"] === true,
    clientCertificate: pem(user?.["client-certificate-data"], user?.["client-certificate"]) ?? null,
  };
}
