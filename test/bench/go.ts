import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Evidence } from "./evidence.ts";

/**
 * CPU time in microseconds that google/go-attestation takes for the same sets, in their order; or why there is none.
 * The program is built with the machine's Go, which nothing else of fleetd needs.
 */
export function goAttestation(sets: readonly Evidence[]): readonly number[] | string {
  const source = join(import.meta.dirname, "go-attestation");
  const folder = mkdtempSync(join(tmpdir(), "fleetd-bench-"));
  const program = join(folder, "bench");
  if (spawnSync("go", ["version"]).status !== 0) return "no Go on this machine";
  const built = spawnSync("go", ["build", "-o", program, "."], { cwd: source, encoding: "utf8" });
  if (built.status !== 0 || !existsSync(program)) return `go build failed: ${built.stderr.trim().split("\n").at(-1)}`;
  const files = sets.map((set, i) => {
    const file = join(folder, `${i}.json`);
    const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
    const value = {
      akPublic: base64(set.key.public),
      nonce: base64(set.extraData),
      quote: base64(set.attest),
      signature: base64(set.signature),
      eventLog: base64(set.eventLog),
      pcrs: set.pcrs,
    };
    writeFileSync(file, JSON.stringify(value));
    return file;
  });
  const ran = spawnSync(program, files, { encoding: "utf8", env: { ...process.env, GOMAXPROCS: "1" } });
  if (ran.status !== 0) return `it refused a set: ${ran.stderr.trim()}`;
  return ran.stdout.trim().split("\n").map(Number);
}
