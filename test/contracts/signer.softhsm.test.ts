import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandSigner } from "../../shared/adapters/ca/command.ts";
import { createPkcs11Signer } from "../../shared/adapters/ca/pkcs11.ts";
import { backEndContract } from "./back-end.ts";
import { IssuerFiles, KEY_KINDS } from "./issuer-files.ts";
import { SoftHsm } from "./soft-hsm.ts";

// pkcs11-tool signs with the first key where it is given a label and no id; see infra/docs/issuer.md.
const idOf = (name: string) => `0${KEY_KINDS.findIndex((kind) => kind.name === name) + 1}`;
let files: IssuerFiles;
let hsm: SoftHsm;
beforeAll(() => {
  files = new IssuerFiles();
  hsm = new SoftHsm();
  for (const { name } of KEY_KINDS) hsm.import(files.at(`${name}.key`), name, idOf(name));
});
afterAll(() => {
  hsm.remove();
  files.remove();
});

describe("PKCS#11 by pkcs11js, on SoftHSM", () => {
  backEndContract(
    () => files,
    ({ name }, paths, queue) => {
      const { module, token, pinFile } = hsm;
      return createPkcs11Signer({ module, token, keyLabel: name, pinFile, ...paths, timeoutMs: 20_000, queue });
    },
  );
});

describe("pkcs11-tool as the command, on SoftHSM", () => {
  backEndContract(
    () => files,
    ({ name }, paths, queue) => {
      const rsa = name === "rsa";
      const command = [
        ...["pkcs11-tool", "--module", hsm.module, "--token-label", hsm.token, "--login", "--pin", "env:FLEETD_PIN"],
        ...["--sign", "--id", idOf(name), "--mechanism", rsa ? "SHA256-RSA-PKCS" : "ECDSA"],
        ...["--input-file", "{in}", "--output-file", "{out}"],
      ];
      const { pinFile } = hsm;
      const input = rsa ? "tbs" : "digest";
      // A process that logs in writes to SoftHSM's token, and another one may not find the token just then.
      const one = { ...queue, concurrency: 1 };
      return createCommandSigner({ command, input, pinFile, ...paths, timeoutMs: 20_000, queue: one });
    },
  );
});

it("pkcs11-tool with a wrong PIN: a person's to mend, told by the token's own word, and tried once", async () => {
  const pinFile = join(hsm.folder, "wrong");
  writeFileSync(pinFile, "0000-wrong\n", { mode: 0o600 });
  const tries = join(hsm.folder, "tries");
  const script = `echo >> ${tries}; exec pkcs11-tool --module ${hsm.module} --token-label "${hsm.token}" --login --pin env:FLEETD_PIN --sign --id 01 --mechanism ECDSA --input-file "$0" --output-file "$1"`;
  const port = await createCommandSigner({
    ...{ command: ["sh", "-c", script, "{in}", "{out}"], input: "digest", pinFile, chainFile: files.at("p256.pem") },
    ...{ timeoutMs: 20_000, queue: { concurrency: 1, maxWaiting: 5, waitMs: 20_000 } },
  });
  for (let i = 0; i < 2; i++)
    await expect(port.sign(new Uint8Array(9))).rejects.toMatchObject({
      kind: "rejected",
      message: "signer rejected: the command ended by 1: CKR_PIN_INCORRECT",
    });
  expect(readFileSync(tries, "utf8")).toBe("\n");
});
