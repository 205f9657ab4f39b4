import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { LabTpm, PcrExtend } from "./lab-tpm.ts";

const run = promisify(execFile);
const TOOLS = ["swtpm", "swtpm_setup", "swtpm_localca", "tpm2_pcrextend", "tpm2_quote", "curl", "jq"];
/** Template H-3, which swtpm_setup makes beside the RSA one. */
const P384_HANDLE = "0x81010016";
const START_MS = 5_000;
/** One tpm2_pcrextend takes so many specs; an argument list has an end. */
const SPECS_A_CALL = 32;

/** The programs that a lab with swtpm and tink-attest lacks here; empty where it has them all. */
export function missingTools(): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return TOOLS.filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
}

/** A TPM in a process of its own (swtpm, libtpms), its state in a folder: made where it isn't there. */
export class SwTpm implements LabTpm {
  readonly kind = "swtpm";
  /** For tpm2-tools. */
  readonly tcti: string;
  readonly #state: string;
  // Not in the state folder: a socket's path has room for about 100 bytes.
  readonly #sockets: string;
  #process: ChildProcess | null = null;
  #digests: readonly string[] | null = null;

  private constructor(state: string) {
    this.#state = state;
    this.#sockets = mkdtempSync(join(tmpdir(), "swtpm-"));
    this.tcti = `swtpm:path=${join(this.#sockets, "tpm")}`;
  }

  /**
   * Opens the TPM of a folder. A new one gets its EK certificates from a CA in `caFolder`, never the host's own.
   * @throws Error with swtpm_setup's words
   */
  static async open(folder: string, caFolder: string): Promise<SwTpm> {
    const state = resolve(folder, "swtpm");
    if (!existsSync(join(state, "tpm2-00.permall"))) await manufacture(state, resolve(caFolder));
    return new SwTpm(state);
  }

  async powerOn(extended: readonly PcrExtend[]): Promise<void> {
    await this.powerOff();
    await this.#start();
    const specs = extended.map(({ pcr, digests }) => {
      const banks = Object.entries(digests).map(([bank, digest]) => `${bank}=${Buffer.from(digest).toString("hex")}`);
      return `${pcr}:${banks.join(",")}`;
    });
    for (let i = 0; i < specs.length; i += SPECS_A_CALL)
      await this.#tool("tpm2_pcrextend", ...specs.slice(i, i + SPECS_A_CALL));
  }

  async powerOff(): Promise<void> {
    const running = this.#process;
    if (running === null) return;
    this.#process = null;
    // Without it the next start counts as a failed try, and the TPM locks itself after some.
    await this.#tool("tpm2_shutdown", "-c").catch(() => undefined);
    const ended = new Promise((done) => running.once("exit", done));
    if (running.exitCode === null && running.signalCode === null && running.kill()) await ended;
  }

  async ekDigests(): Promise<readonly string[]> {
    if (this.#digests !== null) return this.#digests;
    const wasOff = this.#process === null;
    if (wasOff) await this.#start();
    try {
      const work = join(this.#sockets, "ek");
      mkdirSync(work, { recursive: true });
      const handles: string[] = [];
      for (const kind of ["rsa", "ecc"]) {
        const context = join(work, `${kind}.ctx`);
        await this.#tool("tpm2_createek", "-c", context, "-G", kind, "-u", join(work, `${kind}.pub`));
        handles.push(context);
      }
      const digests: string[] = [];
      for (const handle of [...handles, P384_HANDLE]) {
        await this.#tool("tpm2_readpublic", "-c", handle, "-f", "der", "-o", join(work, "spki.der"));
        const spki = readFileSync(join(work, "spki.der"));
        digests.push(`sha256:${createHash("sha256").update(spki).digest("hex")}`);
      }
      this.#digests = digests;
      return digests;
    } finally {
      if (wasOff) await this.powerOff();
    }
  }

  /** Turns it off for good and removes its sockets; the state stays. */
  async close(): Promise<void> {
    await this.powerOff();
    rmSync(this.#sockets, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const socket = join(this.#sockets, "tpm");
    for (const stale of [socket, `${socket}.ctrl`]) rmSync(stale, { force: true });
    const started = spawn(
      "swtpm",
      [
        ...["socket", "--tpm2", "--tpmstate", `dir=${this.#state}`],
        ...["--server", `type=unixio,path=${socket}`, "--ctrl", `type=unixio,path=${socket}.ctrl`],
        ...["--flags", "not-need-init,startup-clear"],
      ],
      { stdio: "ignore" },
    );
    started.on("error", () => undefined);
    this.#process = started;
    for (let waitedMs = 0; !existsSync(socket) || !existsSync(`${socket}.ctrl`); waitedMs += 10) {
      if (started.exitCode !== null || waitedMs > START_MS) throw new Error("swtpm did not start");
      await sleep(10);
    }
  }

  async #tool(name: string, ...args: readonly string[]): Promise<void> {
    const env = { ...process.env, TPM2TOOLS_TCTI: this.tcti };
    await run(name, args, { env });
    // No resource manager stands before it: a TPM holds three objects.
    if (name === "tpm2_createek" || name === "tpm2_readpublic") await run("tpm2_flushcontext", ["-t"], { env });
  }
}

/** Makes a TPM with EK certificates of the lab's own CA. @see facts/tpm.md */
async function manufacture(state: string, ca: string): Promise<void> {
  mkdirSync(state, { recursive: true });
  mkdirSync(ca, { recursive: true });
  const files = { localca: join(ca, "localca.conf"), options: join(ca, "options"), setup: join(ca, "setup.conf") };
  const localca = { statedir: ca, signingkey: "signkey.pem", issuercert: "issuercert.pem", certserial: "certserial" };
  const lines = Object.entries(localca).map(
    ([key, value]) => `${key} = ${key === "statedir" ? value : join(ca, value)}`,
  );
  writeFileSync(files.localca, `${lines.join("\n")}\n`);
  writeFileSync(files.options, "--platform-manufacturer Lab\n--platform-version 1\n--platform-model Node\n");
  const tool = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "swtpm_localca"));
  const setup = {
    create_certs_tool: tool.find((file) => existsSync(file)) ?? "swtpm_localca",
    create_certs_tool_config: files.localca,
    create_certs_tool_options: files.options,
    active_pcr_banks: "sha256",
  };
  const text = Object.entries(setup).map(([key, value]) => `${key} = ${value}\n`);
  writeFileSync(files.setup, text.join(""));
  await run("swtpm_setup", [
    ...["--tpm2", "--config", files.setup, "--tpmstate", state, "--create-ek-cert", "--lock-nvram"],
    ...["--overwrite", "--pcr-banks", "sha256"],
  ]);
}
