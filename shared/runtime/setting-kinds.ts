import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { z } from "zod";

export const flag = (fallback: boolean) =>
  z
    .enum(["true", "false"])
    .default(fallback ? "true" : "false")
    .transform((t) => t === "true");

/** Plain digits: an empty text is no zero, and 1e3 is no thousand. */
export const digits = z
  .string()
  .regex(/^\d{1,12}$/, "is not a whole number")
  .transform(Number);

export const count = (fallback: number, max: number) => digits.pipe(z.number().min(1).max(max)).default(fallback);

export const list = z
  .string()
  .default("")
  .transform((t) => t.split(/[\s,]+/).filter((v) => v !== ""));

/** Addresses as they are: a network among them would match nobody, in silence. */
export const peers = list.refine((all) => all.every((one) => isIP(one) !== 0), "holds something else than addresses");

/** A range of whole numbers, `1-5000`; absent: null. */
export const idRange = z
  .string()
  .regex(/^\d{1,12}-\d{1,12}$/, "is no range such as 1-5000")
  .transform((text) => {
    const [from = 0, to = 0] = text.split("-").map(Number);
    return { from, to };
  })
  .refine(({ from, to }) => from <= to, "is no range such as 1-5000")
  .optional();

export const file = z.string().min(1);

export const inputFile = file.refine((path) => existsSync(path), "names a file or folder that is not there");

/** A folder that fleetd writes to: one that it made by itself could be beside the volume that was meant. */
export const writableFolder = file.refine(isWritableFolder, "names no folder that fleetd may write to");

function isWritableFolder(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

export const address = (fallback: string) =>
  z
    .string()
    .regex(/^(\[[0-9a-f:]+\]|[0-9a-zA-Z.-]+):\d{1,5}$/, "is not host:port")
    .default(fallback);

/** A file with a secret, read and trimmed; its contents never appear in a message. */
export const secretFile = (minBytes: number) =>
  file.transform((path, context) => {
    try {
      const text = readFileSync(path, "utf8").trim();
      if (Buffer.byteLength(text) >= minBytes) return text;
      context.addIssue(`the secret in ${path} is shorter than ${minBytes} bytes`);
    } catch {
      context.addIssue(`${path} cannot be read`);
    }
    return z.NEVER;
  });

/** Whether a setting names a file with a secret, by the names that such settings have. */
export function namesSecretFile(setting: string): boolean {
  return /_(TOKEN_FILE|KEY_FILE|SECRETS?_FILE|PIN_FILE|TLS_KEY|KUBECONFIG)$/.test(setting);
}
