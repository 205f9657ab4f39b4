import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { type Arguments, type Io, type Option, UsageError } from "./_command.ts";

const TIMEOUT_MS = 60_000;

/** How a command reaches fleetd's admin listener: each option, else its variable, which is none of fleetd's own. */
export const ADMIN_OPTIONS = {
  url: { type: "string", placeholder: "URL", help: "the admin listener (FLEETCTL_URL)" },
  "token-file": { type: "string", placeholder: "FILE", help: "its bearer token (FLEETCTL_TOKEN_FILE)" },
  ca: { type: "string", placeholder: "FILE", help: "PEM of what issued its TLS certificate (FLEETCTL_CA)" },
  cert: {
    type: "string",
    placeholder: "FILE",
    help: "client certificate in the token's place (FLEETCTL_CERT)",
  },
  key: { type: "string", placeholder: "FILE", help: "its key (FLEETCTL_KEY)" },
} as const satisfies Readonly<Record<string, Option>>;

const VARIABLES = {
  url: "FLEETCTL_URL",
  "token-file": "FLEETCTL_TOKEN_FILE",
  ca: "FLEETCTL_CA",
  cert: "FLEETCTL_CERT",
  key: "FLEETCTL_KEY",
} as const satisfies Readonly<Record<keyof typeof ADMIN_OPTIONS, string>>;

export interface AdminAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AdminClient {
  /** POST with a body, GET without. @returns words for a person where there is no answer that can be read */
  ask(path: string, body?: object): Promise<AdminAnswer | string>;
}

function fileOf(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new UsageError(`${what} ${path} cannot be read`);
  }
}

/** A client of the admin listener as options and variables name it. @throws UsageError where they do not suffice */
export function adminClient(args: Arguments, io: Io): AdminClient {
  const setting = (name: keyof typeof ADMIN_OPTIONS) => args.value(name) ?? io.env[VARIABLES[name]];
  const base = setting("url");
  if (base === undefined || !URL.canParse(base) || !/^https?:/.test(base))
    throw new UsageError("--url or FLEETCTL_URL must name the admin listener");
  const file = (name: keyof typeof ADMIN_OPTIONS) => {
    const path = setting(name);
    return path === undefined ? undefined : fileOf(path, `--${name}`);
  };
  const token = file("token-file")?.trim();
  const [ca, cert, key] = [file("ca"), file("cert"), file("key")];
  if (token === undefined && cert === undefined)
    throw new UsageError("--token-file or --cert (FLEETCTL_TOKEN_FILE, FLEETCTL_CERT) is needed");
  const options = {
    timeout: TIMEOUT_MS,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  const ask = (path: string, body: object | undefined) =>
    new Promise<AdminAnswer>((resolve, reject) => {
      const url = new URL(path, base);
      const text = body === undefined ? "" : JSON.stringify(body);
      const headers = {
        ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      };
      const request = url.protocol === "https:" ? httpsRequest : httpRequest;
      const method = body === undefined ? "GET" : "POST";
      const asked = request(url, { ...options, method, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => {
          try {
            const read = JSON.parse(Buffer.concat(parts).toString()) as AdminAnswer["body"];
            resolve({ status: response.statusCode ?? 0, body: read });
          } catch {
            reject(new Error(`${url.origin} answered ${response.statusCode ?? 0} without JSON`));
          }
        });
      });
      asked.on("timeout", () => asked.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
      asked.on("error", (error) => reject(new Error(`${url.origin}: ${error.message}`)));
      asked.end(text);
    });
  return {
    ask: (path, body) =>
      ask(path, body).catch((error: unknown) => {
        if (error instanceof Error) return error.message;
        throw error;
      }),
  };
}
