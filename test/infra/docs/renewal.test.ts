import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openapiDocument } from "../../../functions/openapi.ts";
import { Node } from "../../functions/renew/node.ts";
import { SwtpmNode } from "../../functions/renew/swtpm-node.ts";
import { RenewWorld } from "../../functions/renew/world.ts";

const docs = fileURLToPath(new URL("../../../infra/docs/", import.meta.url));
const script = /```bash\n([\s\S]*?)```/.exec(readFileSync(join(docs, "renewal.md"), "utf8"))?.[1] ?? "";

test("the schema file beside it is what the handlers read by", () => {
  const { openapi, info, paths } = openapiDocument() as {
    openapi: string;
    info: object;
    paths: Record<string, object>;
  };
  const renew = Object.fromEntries(Object.entries(paths).filter(([path]) => path.startsWith("/renew/")));
  const kept = JSON.parse(readFileSync(join(docs, "examples/renew.openapi.json"), "utf8"));
  expect(kept).toEqual(JSON.parse(JSON.stringify({ openapi, info, paths: renew })));
});

// As test/functions/renew/swtpm.test.ts: only where the caller says that there is none it is not run.
test.runIf(process.env.FLEETD_TEST_NO_SWTPM !== "1")(
  "the shell commands renew a node with a swtpm, with a new key each time",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "fleetd-docs-"));
    const tpm = await SwtpmNode.open();
    const world = await RenewWorld.start({ eks: tpm.eks.map((ek) => ek.digest), profile: "marked" });
    try {
      const node = await Node.installed(tpm, world, "hookos");
      const home = join(folder, "keys");
      const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
      mkdirSync(home);
      for (const [name, key] of [["lak", node.lak] as const, ["ldevid", node.ldevid] as const]) {
        writeFileSync(join(home, `${name}.pem`), node.certificates[name]);
        writeFileSync(join(home, `${name}.pub.b64`), base64(key.public));
        writeFileSync(join(home, `${name}.prv.b64`), base64(key.private));
      }
      const [log, line] = [join(folder, "log"), join(folder, "cmdline")];
      writeFileSync(log, node.eventLog);
      writeFileSync(line, `${node.commandLine}\n`);
      const env = {
        ...{ PATH: process.env.PATH, TPM2TOOLS_TCTI: tpm.tcti, TMPDIR: folder },
        ...{ FLEETD: world.admin, HOME_OF_KEYS: home, EVENT_LOG: log, COMMAND_LINE: line },
      };
      const seen = [new X509Certificate(node.certificates.ldevid)];
      for (let n = 1; n <= 2; n++) {
        const { stdout } = await promisify(execFile)("bash", ["-c", script], { env });
        expect(stdout).toBe("renewed\n");
        const certificate = new X509Certificate(readFileSync(join(home, "ldevid.pem")));
        expect(seen.some((one) => one.publicKey.equals(certificate.publicKey))).toBe(false);
        seen.push(certificate);
        const { identity } = await world.record();
        expect(identity?.ldevid.serialNumber).toBe(certificate.serialNumber.toLowerCase());
        rmSync(`${home}.old`, { recursive: true });
      }
      // A command line that was not measured: the answer's code is said, and nothing is changed.
      writeFileSync(line, "fleet_stage=os init=/bin/sh\n");
      const failed = await promisify(execFile)("bash", ["-c", script], { env }).catch(
        (error: { stderr: string }) => error,
      );
      expect(failed.stderr).toContain('"code":"authority-not-accepted"');
      expect(new X509Certificate(readFileSync(join(home, "ldevid.pem"))).serialNumber).toBe(seen[2]?.serialNumber);
    } finally {
      await world.close();
      await tpm.close();
      rmSync(folder, { recursive: true });
    }
  },
  60_000,
);
