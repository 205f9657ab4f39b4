import type { z } from "zod";
import type { Arguments, Io } from "./_command.ts";
import { type AdminClient, adminClient } from "./admin.ts";
import { plain } from "./text.ts";

export const REFUSED = 1;
export const NO_ANSWER = 2;

export type Asked<T> =
  | { readonly ok: true; readonly value: T; readonly body: unknown }
  | { readonly ok: false; readonly exitCode: number; readonly why: string; readonly body: unknown };

/** Asks the admin listener, and reads what it says by a schema. @throws UsageError without an address or a credential */
export async function ask<S extends z.ZodType>(
  client: AdminClient,
  path: string,
  schema: S,
  body?: object,
): Promise<Asked<z.output<S>>> {
  const answer = await client.ask(path, body);
  if (typeof answer === "string") return { ok: false, exitCode: NO_ANSWER, why: answer, body: null };
  const { status } = answer;
  if (status !== 200) {
    const why = `${String(answer.body.code)}: ${String(answer.body.detail)}`;
    return { ok: false, exitCode: status >= 400 && status < 500 ? REFUSED : NO_ANSWER, why, body: answer.body };
  }
  const read = schema.safeParse(answer.body);
  if (read.success) return { ok: true, value: read.data, body: answer.body };
  const where = read.error.issues[0]?.path.join(".") ?? "";
  return { ok: false, exitCode: NO_ANSWER, why: `an answer of another fleetd (${where})`, body: answer.body };
}

/** A command that prints one answer: as it came with --json, else in words. @returns its exit code */
export async function tell<S extends z.ZodType>(
  about: { readonly command: string; readonly args: Arguments; readonly io: Io },
  path: string,
  schema: S,
  words: (value: z.output<S>) => readonly string[],
  body?: object,
): Promise<number> {
  const { command, args, io } = about;
  const asked = await ask(adminClient(args, io), path, schema, body);
  const json = args.flag("json");
  if (json && asked.body !== null) io.out(JSON.stringify(asked.body));
  if (!asked.ok) {
    if (!json || asked.body === null) io.err(`fleetctl ${command}: ${plain(asked.why)}`);
    return asked.exitCode;
  }
  if (!json) for (const line of words(asked.value)) io.out(plain(line));
  return 0;
}
