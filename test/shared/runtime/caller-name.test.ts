import { generateKeyPairSync } from "node:crypto";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { expect, it } from "vitest";
import { LabAuthority } from "../../../infra/lab/kubernetes/authority.ts";
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

it("over TLS: the CN of a certificate of the admin CA; another CA's is nobody's name", async () => {
  const admins = new LabAuthority("Admins");
  const { certificate: cert, key } = new LabAuthority("TLS").serverIdentity();
  const server = createAdaptorServer({
    fetch: new Hono().get("/", (c) => c.text(callerName(c))).fetch,
    createServer,
    serverOptions: { cert, key, ca: admins.pem, requestCert: true, rejectUnauthorized: false },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  const ask = (authority: LabAuthority) => {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const spki = pair.publicKey.export({ type: "spki", format: "der" });
    const own = {
      cert: authority.issue({ commonName: "alice", use: "client" }, spki),
      key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    };
    return new Promise<string>((resolve, reject) => {
      const options = { host: "127.0.0.1", port, agent: false, rejectUnauthorized: false, ...own };
      get(options, (response) => response.on("data", (part: Buffer) => resolve(part.toString()))).on("error", reject);
    });
  };
  expect(await ask(admins)).toBe("alice");
  expect(await ask(new LabAuthority("Admins"))).toBe("token");
  await new Promise((resolve) => server.close(resolve));
});
