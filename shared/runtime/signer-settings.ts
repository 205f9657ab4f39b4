import { z } from "zod";
import { count, inputFile } from "./setting-kinds.ts";

/** A JSON list of texts: program and arguments, as they are, without a shell. */
const argumentList = z.string().transform((text, context) => {
  try {
    const parsed = z
      .array(z.string().regex(/^[^\0]*$/))
      .min(1)
      .safeParse(JSON.parse(text));
    if (parsed.success && parsed.data[0] !== "") return parsed.data;
  } catch {
    // The same words for what is no JSON.
  }
  context.addIssue('is not a JSON list of texts, such as ["sign", "--in", "{in}"]');
  return z.NEVER;
});

/** The settings of the issuer; which of them are needed depends on FLEET_CA_SIGNER (infra/docs/issuer.md). */
export const signerSchema = {
  FLEET_CA_SIGNER: z
    .enum(["key-file", "pkcs11", "command"])
    .default("key-file")
    .describe("where the issuer's key is (`issuer.md`)"),
  FLEET_CA_CHAIN_FILE: inputFile.describe("PEM of the issuer's certificate, then of those above it"),
  FLEET_CA_BUNDLE_FILE: inputFile
    .optional()
    .describe("PEM of further issuers whose certificates are accepted until their nodes renew"),
  FLEET_CA_KEY_FILE: inputFile.optional().describe("`key-file`: PEM of the key, without a passphrase"),
  FLEET_CA_PKCS11_MODULE: inputFile.optional().describe("`pkcs11`: the module's shared library"),
  FLEET_CA_PKCS11_TOKEN: z.string().min(1).max(32).optional().describe("`pkcs11`: label of the token"),
  FLEET_CA_PKCS11_KEY_LABEL: z
    .string()
    .min(1)
    .optional()
    .describe("`pkcs11`: label of the key; this, FLEET_CA_PKCS11_KEY_ID or both"),
  FLEET_CA_PKCS11_KEY_ID: z
    .string()
    .regex(/^([0-9a-f]{2}){1,64}$/i, "is not hex")
    .optional()
    .describe("`pkcs11`: id of the key, hex"),
  FLEET_CA_PIN_FILE: inputFile
    .optional()
    .describe("`pkcs11`, and `command` where it needs one: file whose first line is the PIN"),
  FLEET_CA_COMMAND: argumentList
    .optional()
    .describe("`command`: JSON list of program and arguments; `{in}` and `{out}` stand for files"),
  FLEET_CA_COMMAND_INPUT: z
    .enum(["digest", "tbs"])
    .optional()
    .describe("`command`: what is signed, the certificate's bytes (`tbs`) or their `digest`, which is the default"),
  FLEET_CA_CONCURRENCY: count(1, 64).describe("signatures at once"),
  FLEET_CA_QUEUE: count(64, 10_000).describe("signatures that may wait; one more is refused with 503"),
  FLEET_CA_WAIT_MS: count(10_000, 600_000).describe("longest wait for a turn"),
  FLEET_CA_TIMEOUT_MS: count(10_000, 600_000).describe("longest time for one signature (`pkcs11`, `command`)"),
};

/** Where the issuer's key is. */
export type SignerSettings =
  | { readonly kind: "key-file"; readonly keyFile: string }
  | {
      readonly kind: "pkcs11";
      readonly module: string;
      readonly token: string;
      readonly keyLabel: string | undefined;
      readonly keyId: string | undefined;
      readonly pinFile: string;
    }
  | {
      readonly kind: "command";
      readonly command: readonly string[];
      readonly input: "digest" | "tbs";
      readonly pinFile: string | undefined;
    };

type Kind = SignerSettings["kind"];
const USED_BY: Readonly<Record<string, readonly Kind[]>> = {
  FLEET_CA_KEY_FILE: ["key-file"],
  FLEET_CA_PKCS11_MODULE: ["pkcs11"],
  FLEET_CA_PKCS11_TOKEN: ["pkcs11"],
  FLEET_CA_PKCS11_KEY_LABEL: ["pkcs11"],
  FLEET_CA_PKCS11_KEY_ID: ["pkcs11"],
  FLEET_CA_PIN_FILE: ["pkcs11", "command"],
  FLEET_CA_COMMAND: ["command"],
  FLEET_CA_COMMAND_INPUT: ["command"],
};
const NEEDED: Readonly<Record<Kind, readonly string[]>> = {
  "key-file": ["FLEET_CA_KEY_FILE"],
  pkcs11: ["FLEET_CA_PKCS11_MODULE", "FLEET_CA_PKCS11_TOKEN", "FLEET_CA_PIN_FILE"],
  command: ["FLEET_CA_COMMAND"],
};

type Env = Readonly<Record<string, string | undefined>>;

/** Every fault of the issuer's settings that one alone does not show. */
export function signerFaults(env: Env): string[] {
  const kind = (env.FLEET_CA_SIGNER ?? "key-file") as Kind;
  const needed = NEEDED[kind];
  // Another word than the three is a fault of its own, and nothing follows from it.
  if (needed === undefined) return [];
  const missing = needed.filter((name) => env[name] === undefined);
  const strange = Object.entries(USED_BY).filter(([name, by]) => env[name] !== undefined && !by.includes(kind));
  const noKey = env.FLEET_CA_PKCS11_KEY_LABEL === undefined && env.FLEET_CA_PKCS11_KEY_ID === undefined;
  return [
    ...missing.map((name) => `${name}: is missing, and FLEET_CA_SIGNER=${kind} needs it`),
    ...strange.map(([name, by]) => `${name}: is for FLEET_CA_SIGNER=${by.join(" or ")}, which is ${kind}`),
    ...(kind === "pkcs11" && noKey ? ["FLEET_CA_PKCS11_KEY_LABEL or FLEET_CA_PKCS11_KEY_ID: one is needed"] : []),
  ];
}

const schema = z.object(signerSchema);

/** The issuer's key of settings without faults. @throws Error where they have some */
export function signerSettings(s: z.output<typeof schema>): SignerSettings {
  if (s.FLEET_CA_SIGNER === "pkcs11")
    return {
      kind: "pkcs11",
      module: given(s.FLEET_CA_PKCS11_MODULE),
      token: given(s.FLEET_CA_PKCS11_TOKEN),
      keyLabel: s.FLEET_CA_PKCS11_KEY_LABEL,
      keyId: s.FLEET_CA_PKCS11_KEY_ID,
      pinFile: given(s.FLEET_CA_PIN_FILE),
    };
  if (s.FLEET_CA_SIGNER === "command")
    return {
      kind: "command",
      command: given(s.FLEET_CA_COMMAND),
      input: s.FLEET_CA_COMMAND_INPUT ?? "digest",
      pinFile: s.FLEET_CA_PIN_FILE,
    };
  return { kind: "key-file", keyFile: given(s.FLEET_CA_KEY_FILE) };
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a setting of the issuer is missing");
  return value;
}
