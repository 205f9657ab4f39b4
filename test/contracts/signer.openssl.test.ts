import { afterAll, beforeAll, describe } from "vitest";
import { createCommandSigner } from "../../shared/adapters/ca/command.ts";
import { createKeyFileSigner } from "../../shared/adapters/ca/key-file.ts";
import { backEndContract } from "./back-end.ts";
import { IssuerFiles } from "./issuer-files.ts";
import { signerContract } from "./signer.ts";

let files: IssuerFiles;
beforeAll(() => {
  files = new IssuerFiles();
});
afterAll(() => files.remove());

describe("a key file", () => {
  backEndContract(
    () => files,
    (kind, paths, queue) => createKeyFileSigner({ keyFile: files.at(`${kind.name}.key`), ...paths, queue }),
  );
});

describe("openssl as the command, digest by a file and signature on stdout", () => {
  backEndContract(
    () => files,
    ({ name, hash }, paths, queue) => {
      const key = ["-inkey", files.at(`${name}.key`), "-pkeyopt", `digest:${hash}`];
      const command = ["openssl", "pkeyutl", "-sign", "-in", "{in}", ...key];
      return createCommandSigner({ command, input: "digest", ...paths, timeoutMs: 20_000, queue });
    },
  );
});

describe("openssl as the command, the bytes on stdin and base64 on stdout", () => {
  signerContract(
    () => files,
    ({ name, hash }, paths, queue) => {
      const script = `openssl dgst -${hash} -sign "$1" | openssl base64`;
      const command = ["sh", "-c", script, "sh", files.at(`${name}.key`)];
      return createCommandSigner({ command, input: "tbs", ...paths, timeoutMs: 20_000, queue });
    },
  );
});
