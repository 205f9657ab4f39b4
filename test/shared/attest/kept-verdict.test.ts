import { createHash, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { judgeBoot } from "../../../shared/attest/boot.ts";
import { keptVerdict } from "../../../shared/attest/kept-verdict.ts";
import { vectorText } from "../../vectors/read.ts";
import { authority, buildLog, type Measurement, separator, variables } from "./log-builder.ts";

const der = (file: string) => new Uint8Array(new X509Certificate(vectorText(`vm/certs/${file}`)).raw);
const [lab, rom] = [der("lab-db.pem"), der("Debian-Secure-Boot-CA.pem")];
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function kept(measurements: readonly Measurement[], cut = 0) {
  const { log, pcrs } = buildLog(measurements);
  const verdict = judgeBoot({
    ...{ eventLog: log.subarray(0, log.length - cut), bank: "sha256", select: [0, 1, 2, 3, 4, 5, 6, 7], pcrs },
    ...{ profile: null, purpose: "intake", secureBoot: "required", commandLine: null, attest: null },
  });
  return keptVerdict(verdict, "intake", 7);
}

test("the set of authorities before the separator is one value: order and repetition say nothing", () => {
  const early = (...found: Measurement[]) => kept([...variables(lab), ...found, separator, authority("db", lab)]);
  const [a, b] = [authority("db", rom), authority("db", lab)];
  expect(early().earlyAuthorities).toBe(sha256(""));
  expect(early(a).earlyAuthorities).toBe(sha256(`db ${sha256(rom)}\n`));
  expect(early(a, b).earlyAuthorities).toBe(early(b, a, b).earlyAuthorities);
  expect(early(a, b).earlyAuthorities).not.toBe(early(a).earlyAuthorities);
});

test("a log that proves nothing names none", () => {
  expect(kept([...variables(lab), separator, authority("db", lab)], 1)).toMatchObject({
    ...{ result: "fail", by: "intake", atMs: 7, earlyAuthorities: null, dbxHash: null },
  });
});
