import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { describeLog } from "../../../shared/attest/describe-log.ts";
import { vector, vectorJson } from "../../vectors/read.ts";
import { vmBundle, vmSets } from "../../vectors/to-bundle.ts";
import { jsonFile, run, textFile, vectorPath } from "./cli.ts";

interface Said {
  banks: string[];
  pcrs: Record<string, Record<string, string>>;
  records: { record: number; offset: number; pcr: number }[];
  secureBoot: boolean | null;
  authorities: Record<string, unknown>[];
  dbxHash: string | null;
  sbatLevel: string | null;
  kernelCommandLine: string | null;
  problems: Record<string, unknown>[];
}

const said = async (file: string) => {
  const { code, out, err } = await run(["eventlog", file, "--json"]);
  expect(err).toBe("");
  return { code, log: JSON.parse(out) as Said };
};

describe("every recorded log", () => {
  const files = readdirSync(vectorPath("eventlogs")).filter((file) => /\.(bin|log)$/.test(file));
  test("the manifest's files are all here", () => {
    const manifest = vectorJson<{ logs: { file: string }[] }>("eventlogs/manifest.json");
    expect(files.sort()).toEqual(manifest.logs.map((log) => log.file).sort());
  });
  test.each(files)("%s: exactly the fields of spec/20, and the exit code that fits them", async (file) => {
    const { code, log } = await said(vectorPath(`eventlogs/${file}`));
    expect(Object.keys(log)).toEqual([
      "banks",
      "pcrs",
      "records",
      "secureBoot",
      "authorities",
      "dbxHash",
      "sbatLevel",
      "kernelCommandLine",
      "problems",
    ]);
    for (const one of log.authorities) {
      expect(Object.keys(one)).toEqual(["sha256", "subject", "name", "pcr", "beforeSeparator"]);
    }
    for (const one of log.problems) expect(Object.keys(one)).toEqual(["code", "record", "offset", "detail"]);
    const { readable, fitForPolicy } = describeLog(vector(`eventlogs/${file}`));
    expect(code).toBe(readable ? (fitForPolicy ? 0 : 1) : 2);
    expect((await run(["eventlog", vectorPath(`eventlogs/${file}`)])).code).toBe(code);
  });
});

describe("the virtual machines' logs, against what tpm2_eventlog and the machines say", () => {
  test.each(vmSets().filter((set) => set.expect.event_log))("$name", async ({ name, expect: known }) => {
    const { code, log } = await said(vectorPath(`vm/${name}/eventlog.bin`));
    expect(code).toBe(0);
    expect(log.records.length).toBe(known.events);
    expect(log.secureBoot).toBe(known.secure_boot);
    for (const [pcr, value] of Object.entries(log.pcrs.sha256 ?? {})) expect(known.pcrs_sha256[pcr]).toBe(value);
    expect(log.sbatLevel).toBe(known.sbat_level_sha256);
    expect(log.authorities.map((one) => one.sha256)).toEqual(
      known.authorities_after_separator.flatMap((one) => (one.der_sha256 ? [one.der_sha256] : [])),
    );
  });

  test("the log in a bundle is read as the log itself", async () => {
    const set = vmSets().find((one) => one.name === "debian-ms");
    if (!set) throw new Error("no set");
    const inBundle = await said(jsonFile(vmBundle(set)));
    expect(inBundle).toEqual(await said(vectorPath("vm/debian-ms/eventlog.bin")));
    expect(inBundle.log.kernelCommandLine).toMatch(/^\/vmlinuz console=ttyS0/);
  });
});

test("the text: state, facts, authorities, PCRs, records, and problems with their place", async () => {
  const good = await run(["eventlog", vectorPath("vm/debian-ms/eventlog.bin")]);
  expect(good.out).toMatch(/: well-formed\n/);
  expect(good.out).toMatch(/Secure Boot +on\n/);
  expect(good.out).toMatch(/PCR 7 +MokListRT +after the separator +[0-9a-f]{64} +CN=Debian Secure Boot CA\n/);
  expect(good.out).toMatch(/\n {2}record 4 at byte 319 +PCR 7 +EV_EFI_VARIABLE_DRIVER_CONFIG +53 bytes +sha256 ccfc4b/);
  const bad = await run(["eventlog", vectorPath("eventlogs/syn-pcr-index-24.bin")]);
  expect(bad.out).toMatch(/: malformed\nproblems\n {2}record 7 at byte \d+ +event-log-malformed +.*PCR index 24/);
});

test("a bundle on stdin is read once", async () => {
  const set = vmSets().find((one) => one.name === "debian-ms");
  if (!set) throw new Error("no set");
  const main = new URL("../../../infra/fleetctl/main.ts", import.meta.url).pathname;
  const input = JSON.stringify(vmBundle(set));
  const piped = spawnSync(process.execPath, [main, "eventlog", "-"], { input, encoding: "utf8" });
  expect([piped.status, piped.stdout]).toEqual([0, expect.stringMatching(/^-: well-formed\n/)]);
  expect((await run(["eventlog", jsonFile({ eventLog: "?" })])).err).toMatch(/an eventLog that is no base64/);
});

test("no file, and a bundle without a log, are malformed and told on stderr", async () => {
  expect(await run(["eventlog", "/nowhere"])).toEqual({
    code: 2,
    out: "",
    err: "fleetctl eventlog: /nowhere: no such file",
  });
  expect((await run(["eventlog", jsonFile({})])).err).toMatch(/an object without an eventLog/);
  expect((await run(["eventlog", textFile("", "empty"), "--json"])).code).toBe(2);
});
