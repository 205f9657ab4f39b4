import { execFileSync } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "hono";
import { afterAll, describe, expect, it } from "vitest";
import { LabAuthority } from "../../../infra/lab/kubernetes/authority.ts";
import { adminCaFault, clientCertificateFits } from "../../../shared/runtime/auth.ts";
import { followTls, readTls, refuseDeviceCaAsAdminCa } from "../../../shared/runtime/tls.ts";
import { fakeAuthority } from "../../fakes/authority.ts";

const folder = mkdtempSync(join(tmpdir(), "fleetd-tls-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe("the admin CA", () => {
  const device = new LabAuthority("Device CA");
  const below = fakeAuthority("Device CA");
  const [issuing = "", root = ""] = below.pem.split(/(?<=-----END CERTIFICATE-----\n)/);
  /** An RSA authority: a key of another kind than the device CA's. */
  const rsa = () => {
    const [key, cert] = [join(folder, "rsa.key"), join(folder, "rsa.pem")];
    const subject = ["-subj", "/CN=Admins"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject],
      {
        stdio: "ignore",
      },
    );
    return execFileSync("cat", [cert]).toString();
  };

  it("may be an unrelated one, of any kind of key", () => {
    expect(adminCaFault(new LabAuthority("Admins").pem, device.pem)).toBeNull();
    expect(adminCaFault(rsa(), device.pem)).toBeNull();
    expect(adminCaFault(new LabAuthority("Device CA").pem, device.pem)).toBeNull();
  });

  it("may not be the device CA, its issuer, or a bundle that holds either", () => {
    expect(new X509Certificate(issuing).issuer).toContain("root");
    expect(adminCaFault(device.pem, device.pem)).toContain("every LDevID");
    expect(adminCaFault(issuing, below.pem)).toContain("every LDevID");
    expect(adminCaFault(root, below.pem)).toContain("every LDevID");
    expect(adminCaFault(root, issuing)).toContain("every LDevID");
    expect(adminCaFault(`${new LabAuthority("Admins").pem}${device.pem}`, device.pem)).toContain("every LDevID");
  });

  it("may not be empty, and there must be a device CA to compare it with", () => {
    expect(adminCaFault("", device.pem)).toContain("no certificate");
    expect(adminCaFault(device.pem, "")).toContain("no certificate");
  });

  it("is a start error by its setting's name", () => {
    const path = file("device.pem", device.pem);
    expect(() => refuseDeviceCaAsAdminCa(path, path)).toThrow(/^FLEET_ADMIN_CA: it is/);
  });
});

describe("TLS of a listener", () => {
  const admins = new LabAuthority("Admins");
  const client = (authority: LabAuthority) => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const spki = publicKey.export({ type: "spki", format: "der" });
    return {
      cert: authority.issue({ commonName: "someone", use: "client" }, spki),
      key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    };
  };

  it("tells an administrator's certificate from others', and takes renewed files without a restart", async () => {
    const first = new LabAuthority("first");
    const identity = first.serverIdentity();
    const files = {
      cert: file("tls.crt", identity.certificate),
      key: file("tls.key", identity.key),
      clientCa: file("admins.pem", admins.pem),
    };
    const server = createServer(
      { ...readTls(files), requestCert: true, rejectUnauthorized: false },
      (asked, answer) => {
        answer.end(String(clientCertificateFits({ env: { incoming: asked } } as unknown as Context)));
      },
    );
    const said: string[] = [];
    followTls(server, files, (text) => said.push(text), 20);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const ask = (options: object) =>
      new Promise<{ text: string; issuer: string }>((resolve, reject) => {
        request({ host: "127.0.0.1", port, agent: false, rejectUnauthorized: false, ...options }, (response) => {
          const { issuer } = (response.socket as import("node:tls").TLSSocket).getPeerCertificate();
          response.setEncoding("utf8").on("data", (text: string) => resolve({ text, issuer: String(issuer.CN) }));
        })
          .on("error", reject)
          .end();
      });
    expect(await ask({})).toEqual({ text: "false", issuer: "first" });
    expect((await ask(client(new LabAuthority("Admins")))).text).toBe("false");
    expect((await ask(client(admins))).text).toBe("true");

    const second = new LabAuthority("second").serverIdentity();
    writeFileSync(files.cert, second.certificate);
    await expect.poll(() => said.join(), { timeout: 5000 }).toContain("cannot be used, the old one stays");
    expect((await ask({})).issuer).toBe("first");
    writeFileSync(files.key, second.key);
    await expect.poll(async () => (await ask({})).issuer, { timeout: 5000 }).toBe("second");

    const others = new LabAuthority("Other admins");
    writeFileSync(files.clientCa, others.pem);
    await expect.poll(async () => (await ask(client(others))).text, { timeout: 5000 }).toBe("true");
    expect((await ask(client(admins))).text).toBe("false");
    await new Promise((resolve) => server.close(resolve));
  });
});
