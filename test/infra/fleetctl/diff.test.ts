import { expect, test } from "vitest";
import { run, textFile, vectorPath } from "./cli.ts";

const log = (set: string) => vectorPath(`vm/${set}/eventlog.bin`);

test("two boots of one machine say the same", async () => {
  expect(await run(["diff", log("lab-sb-on"), log("lab-sb-on-again")])).toEqual({
    code: 0,
    out: "the same, in sha256",
    err: "",
  });
});

test("Secure Boot switched off: what changed, and nothing else", async () => {
  const { code, out } = await run(["diff", log("lab-sb-on"), log("lab-sb-off"), "--json"]);
  expect(code).toBe(1);
  const said = JSON.parse(out);
  expect(said).toMatchObject({
    same: false,
    bank: "sha256",
    secureBoot: { a: true, b: false },
    sbatLevel: null,
    kernelCommandLine: null,
    authorities: { removed: [{ name: "db", pcr: 7 }], added: [] },
  });
  expect(said.pcrs.map((one: { pcr: number }) => one.pcr)).toEqual([4, 7]);
  // The firmware starts the kernel through one more image, and measures no authority.
  expect(said.removed.map((one: { pcr: number; type: string }) => [one.pcr, one.type])).toEqual([
    [7, "EV_EFI_VARIABLE_DRIVER_CONFIG"],
    [7, "EV_EFI_VARIABLE_DRIVER_CONFIG"],
    [7, "EV_EFI_VARIABLE_AUTHORITY"],
  ]);
  const text = await run(["diff", log("lab-sb-on"), log("lab-sb-off")]);
  expect(text.out).toMatch(/Secure Boot +on +→ +off\n/);
  expect(text.out).toMatch(/- +PCR 7 +db +after the separator +[0-9a-f]{64} +CN=fleetd lab Secure Boot signing/);
});

test("from GRUB to a stub: the command line and its event go", async () => {
  const { out } = await run(["diff", log("debian-ms"), log("labms-lab")]);
  expect(out).toMatch(/command line +\/vmlinuz .* → +not told\n/);
  expect(out).toMatch(/\+ +PCR 11 +EV_IPL/);
});

test("a log that is none", async () => {
  const { code, err } = await run(["diff", log("lab-sb-on"), textFile("x", "log")]);
  expect([code, err]).toEqual([2, expect.stringMatching(/fleetctl diff: .*log: .*truncated/)]);
});

test("two logs without a bank in common differ", async () => {
  const sha1 = vectorPath("eventlogs/guard-windows_event_log.bin");
  const { code, out } = await run(["diff", sha1, log("lab-sha384-crb")]);
  expect([code, out]).toEqual([1, "no bank that both have"]);
});
