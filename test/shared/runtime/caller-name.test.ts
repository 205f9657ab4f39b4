import type { Context } from "hono";
import { expect, it } from "vitest";
import { callerName } from "../../../shared/runtime/auth.ts";

const called = (socket: object | undefined) => callerName({ env: { incoming: { socket } } } as unknown as Context);
const certificate = (CN: unknown) => ({ authorized: true, getPeerCertificate: () => ({ subject: { CN } }) });

it.each([
  [certificate("alice@example.org"), "alice@example.org"],
  [certificate(["alice", "ops"]), "alice ops"],
  [certificate("al\u001b[31mice\u202e"), "al?[31mice?"],
  [certificate("x".repeat(100)), "x".repeat(64)],
  [certificate(undefined), "a client certificate without a CN"],
  [{ authorized: false, getPeerCertificate: () => ({ subject: { CN: "mallory" } }) }, "token"],
  [{}, "token"],
  [undefined, "token"],
])("%j is %s", (socket, name) => {
  expect(called(socket)).toBe(name);
});
