import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MODULES = [
  "/usr/lib/softhsm/libsofthsm2.so",
  "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
  "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so",
  "/usr/lib64/pkcs11/libsofthsm2.so",
];
const PIN = "4711-secret";

/** A token of SoftHSM2 in a folder of its own; SOFTHSM2_CONF of this process names it. */
export class SoftHsm {
  readonly module: string;
  readonly token = "fleetd issuer";
  readonly folder = mkdtempSync(join(tmpdir(), "fleetd-hsm-"));
  readonly pinFile = join(this.folder, "pin");
  readonly #tokens = join(this.folder, "tokens");

  constructor() {
    const module = MODULES.find((path) => existsSync(path));
    if (module === undefined) throw new Error("SoftHSM2 is needed (FLEETD_TEST_NO_SOFTHSM=1 leaves its tests out)");
    this.module = module;
    mkdirSync(this.#tokens);
    const conf = join(this.folder, "softhsm2.conf");
    writeFileSync(conf, `directories.tokendir = ${this.#tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`);
    process.env.SOFTHSM2_CONF = conf;
    writeFileSync(this.pinFile, `${PIN}\n`, { mode: 0o600 });
    this.#util("--init-token", "--free", "--label", this.token, "--so-pin", "12345678");
  }

  /** Puts a PKCS#8 key of a file on the token. */
  import(file: string, label: string, id: string): void {
    this.#util("--import", file, "--token", this.token, "--label", label, "--id", id);
  }

  /** Makes a P-256 key on the token that asks for the PIN at each signature; gives its public key, DER. */
  generateAlwaysAuthenticating(label: string, id: string): Buffer {
    const common = ["--module", this.module, "--token-label", this.token, "--login", "--pin", PIN, "--label", label];
    const make = ["--keypairgen", "--key-type", "EC:secp256r1", "--id", id, "--always-auth"];
    execFileSync("pkcs11-tool", [...common, ...make], { stdio: "pipe" });
    const file = join(this.folder, `${label}.der`);
    const read = ["--read-object", "--type", "pubkey", "--output-file", file];
    execFileSync("pkcs11-tool", [...common, ...read], { stdio: "pipe" });
    return execFileSync("openssl", ["pkey", "-pubin", "-inform", "DER", "-in", file, "-outform", "DER"]);
  }

  /** Pulls the token out; `putBack` puts it in again. */
  pullOut(): void {
    renameSync(this.#tokens, `${this.#tokens}.away`);
    mkdirSync(this.#tokens);
  }

  putBack(): void {
    rmSync(this.#tokens, { recursive: true });
    renameSync(`${this.#tokens}.away`, this.#tokens);
  }

  remove(): void {
    delete process.env.SOFTHSM2_CONF;
    rmSync(this.folder, { recursive: true, force: true });
  }

  #util(...args: string[]): void {
    execFileSync("softhsm2-util", [...args, "--pin", PIN], { stdio: "pipe" });
  }
}
