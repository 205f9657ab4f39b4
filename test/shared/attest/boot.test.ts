import { X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type BootInput, judgeBoot } from "../../../shared/attest/boot.ts";
import { type BootPolicyProfile, loadProfile } from "../../../shared/attest/profile.ts";
import { encode } from "../../../shared/formats/codec.ts";
import { EV } from "../../../shared/formats/eventlog/event-types.ts";
import { STARTUP_LOCALITY, startupLocality } from "../../../shared/formats/eventlog/events/startup-locality.ts";
import { vectorText } from "../../vectors/read.ts";
import { authority, buildLog, type Measurement, separator, variable, variables } from "./log-builder.ts";

const pem = (file: string) => vectorText(`vm/certs/${file}`);
const der = (file: string) => new Uint8Array(new X509Certificate(pem(file)).raw);
const lab = der("lab-db.pem");
const debian = der("Debian-Secure-Boot-CA.pem");
const text = (value: string) => new TextEncoder().encode(value);

function load(json: object): BootPolicyProfile {
  const loaded = loadProfile({
    name: "p",
    bank: "sha256",
    authorities: [{ pem: pem("lab-db.pem"), for: ["hookos"] }],
    ...json,
  });
  if (!loaded.ok) throw new Error(loaded.problem);
  return loaded.profile;
}

function judge(measurements: readonly Measurement[], changes: Partial<BootInput> = {}) {
  const { log, pcrs } = buildLog(measurements);
  return judgeBoot({
    eventLog: log,
    bank: "sha256",
    select: [0, 1, 2, 3, 4, 5, 6, 7],
    pcrs,
    profile: load({}),
    purpose: "intake",
    secureBoot: "required",
    commandLine: null,
    attest: null,
    ...changes,
  });
}

const reasons = (measurements: readonly Measurement[], changes: Partial<BootInput> = {}): string[] =>
  judge(measurements, changes)
    .checks.filter((check) => !check.ok)
    .map((check) => `${check.code}: ${check.seen}`);

const good = [...variables(lab), separator, authority("db", lab)];

test("a boot by the accepted key passes, and says by what", () => {
  const verdict = judge(good);
  expect([verdict.result, verdict.codes, verdict.secureBoot, verdict.bootProven]).toEqual(["pass", [], true, true]);
  expect(verdict.checks.map((check) => check.name)).toEqual([
    "pcr-zero",
    "event-log",
    "replay",
    "pcr7",
    "secure-boot",
    "authority",
  ]);
});

describe("the state of Secure Boot is proved or it is none", () => {
  const without = (name: string) => good.filter((_, i) => i !== ["SecureBoot", "PK", "KEK", "db", "dbx"].indexOf(name));
  test.each(["PK", "KEK", "dbx"])("%s is not measured", (name) => {
    expect(reasons(without(name))).toEqual([`secure-boot-mismatch: not measured before the separator: ${name}`]);
  });
  test("SecureBoot is not measured", () => {
    expect(judge(without("SecureBoot")).secureBoot).toBeNull();
    expect(reasons(without("SecureBoot"))).toContain("secure-boot-mismatch: unknown");
  });
  test.each([
    ["empty", [], "off"],
    ["zero", [0], "off"],
    ["two", [2], "unknown"],
    ["two bytes", [1, 1], "unknown"],
  ])("SecureBoot is %s", (_, value, seen) => {
    const found = reasons([...variables(lab, Uint8Array.from(value)), separator, authority("db", lab)]);
    expect(found).toContain(`secure-boot-mismatch: ${seen}`);
  });
  test("a variable twice", () => {
    const found = reasons([variable("SecureBoot", Uint8Array.of(0)), ...good]);
    expect(found[0]).toMatch(/^secure-boot-mismatch: record 2 at byte \d+: variable SecureBoot twice$/);
  });
  test("a variable of the same name under another GUID is another variable", () => {
    const [, ...others] = good;
    const secureBoot = variable("SecureBoot", Uint8Array.of(1));
    const data = secureBoot.data.map((octet, i) => (i === 0 ? octet ^ 1 : octet));
    expect(reasons([{ ...secureBoot, data }, ...others])).toContain(
      "secure-boot-mismatch: not measured before the separator: SecureBoot",
    );
  });
  test("a variable after the separator", () => {
    expect(reasons([...good, variable("dbt", new Uint8Array(0))])[0]).toMatch(/variable dbt after the separator$/);
  });
  test("no separator, two, one with an error value, one of another length", () => {
    expect(reasons([...variables(lab), authority("db", lab)])[0]).toMatch(/0 separators/);
    expect(reasons([...good, separator])[0]).toMatch(/2 separators/);
    const error = { ...separator, data: Uint8Array.of(0xff, 0xff, 0xff, 0xff) };
    expect(reasons([...variables(lab), error, authority("db", lab)])[0]).toMatch(/separator with an error value$/);
    const short = { ...separator, data: Uint8Array.of(0) };
    expect(reasons([...variables(lab), short, authority("db", lab)])[0]).toMatch(/EV_SEPARATOR: .*truncated/);
  });
  test("an event of another kind", () => {
    expect(reasons([...good, { pcr: 7, type: EV.EV_EVENT_TAG, data: text("x") }])[0]).toMatch(
      /EV_EVENT_TAG is no kind of PCR 7$/,
    );
  });
  test("an event whose data is not what was measured", () => {
    const [first, ...others] = good;
    if (!first) throw new Error("no event");
    const found = reasons([{ ...first, hashed: text("other") }, ...others]);
    expect(found[0]).toMatch(/^event-log-mismatch: record 1 .*the data is not what its digest is of$/);
  });
  test("actions: protection off is refused unless the profile allows it, an unknown text always", () => {
    const action = (value: string): Measurement => ({ pcr: 7, type: EV.EV_EFI_ACTION, data: text(value) });
    expect(reasons([action("UEFI Debug Mode"), ...good])[0]).toMatch(
      /^secure-boot-mismatch: record 1 .*UEFI Debug Mode$/,
    );
    const allowed = load({ allowedActions: ["DMA Protection Disabled"] });
    expect(reasons([action("DMA Protection Disabled\0"), ...good], { profile: allowed })).toEqual([]);
    expect(reasons([action("Whatever"), ...good])[0]).toMatch(/an action of an unknown text$/);
  });
  test("a db that is no signature list", () => {
    const broken = [
      ...variables(lab).map((one, i) => (i === 3 ? variable("db", text("?")) : one)),
      separator,
      authority("Shim", lab),
    ];
    expect(reasons(broken)[0]).toMatch(/^secure-boot-mismatch: db: /);
  });
});

describe("authorities", () => {
  const booted = (...events: Measurement[]) => [...variables(lab), separator, ...events];
  test("none", () => expect(reasons(booted())).toEqual(["authority-not-accepted: no authority after the separator"]));
  test("one that the profile does not accept, beside one that it does", () => {
    expect(reasons([...good, authority("MokListRT", debian)])[0]).toMatch(
      /^authority-not-accepted: MokListRT: .*Debian Secure Boot CA/,
    );
  });
  test("an accepted one that is not in the measured db", () => {
    const found = reasons([...variables(debian), separator, authority("db", lab)]);
    expect(found[0]).toMatch(/^authority-not-accepted: db: CN=fleetd lab/);
  });
  test("by shim's own key it need not be in the db", () => {
    expect(reasons([...variables(debian), separator, authority("Shim", lab)])).toEqual([]);
  });
  test("a name that shim does not write", () => {
    expect(reasons(booted(authority("MokListX", lab)))[0]).toMatch(/^authority-not-accepted: MokListX/);
  });
  test("an image's hash", () => {
    expect(reasons(booted(authority("db", new Uint8Array(32))))[0]).toMatch(
      /^authority-not-accepted: db: no certificate/,
    );
  });
  test("an authority in another PCR", () => {
    expect(reasons([...good, authority("db", lab, 4)])[0]).toMatch(/^authority-not-accepted: record 8 .*in PCR 4$/);
  });
  test("shim's data variables are no keys", () => {
    const data = [authority("SbatLevel", text("sbat,1,2023012900\n")), authority("MokListTrusted", Uint8Array.of(1))];
    const verdict = judge([...good, ...data]);
    expect([verdict.codes, verdict.authorities.length]).toEqual([[], 1]);
    expect(verdict.sbatLevel).toMatch(/^[0-9a-f]{64}$/);
  });
  test("shim that validates nothing", () => {
    expect(reasons([...good, authority("MokSBState", Uint8Array.of(1))])[0]).toMatch(/^validation-off/);
    expect(reasons([...good, authority("MokSBState", Uint8Array.of(0))])).toEqual([]);
    const logged = { pcr: 14, type: EV.EV_IPL, data: text("MokSBState\0"), hashed: Uint8Array.of(1) };
    expect(reasons([...good, logged])[0]).toMatch(/^validation-off/);
    expect(reasons([...good, { ...logged, hashed: Uint8Array.of(0) }])).toEqual([]);
  });
  test("before the separator: recorded, and judged only where the profile says so", () => {
    const log = [...variables(lab), authority("db", debian), separator, authority("db", lab)];
    const verdict = judge(log);
    expect(verdict.codes).toEqual([]);
    expect(verdict.authorities.map((one) => one.beforeSeparator)).toEqual([true, false]);
    expect(reasons(log, { profile: load({ beforeSeparator: [] }) })[0]).toMatch(
      /^authority-not-accepted: db: .*Debian/,
    );
    const listed = load({ beforeSeparator: [{ pem: pem("Debian-Secure-Boot-CA.pem") }] });
    expect(reasons(log, { profile: listed })).toEqual([]);
  });
  test("old shim: one byte more than was measured, in its own events and nowhere else", () => {
    const stray = (one: Measurement): Measurement => {
      const padded = new Uint8Array([...one.data, 0, 0, 0, 0, 0]);
      return { ...one, data: new Uint8Array([...padded, 0xaf]), hashed: padded };
    };
    expect(reasons(booted(stray(authority("Shim", lab))))).toEqual([]);
    const dirty = stray(authority("Shim", lab));
    const marked = dirty.data.map((octet, i) => (i === dirty.data.length - 3 ? 1 : octet));
    expect(reasons(booted({ ...dirty, data: marked, hashed: marked.subarray(0, -1) }))[0]).toMatch(/trailing/);
    const [first, ...others] = good;
    if (!first) throw new Error("no event");
    expect(
      reasons([{ ...first, data: new Uint8Array([...first.data, 0xaf]), hashed: first.data }, ...others])[0],
    ).toMatch(/^event-log-mismatch/);
    const early = {
      ...authority("db", lab),
      data: new Uint8Array([...authority("db", lab).data, 0xaf]),
      hashed: authority("db", lab).data,
    };
    expect(reasons([...variables(lab), early, separator, authority("db", lab)])[0]).toMatch(/^event-log-mismatch/);
  });
});

describe("where PCR 0 starts", () => {
  const locality = (value: 3, pcr = 0): Measurement => {
    return { pcr, type: EV.EV_NO_ACTION, data: encode(STARTUP_LOCALITY, startupLocality(value)) };
  };
  const seen = (...first: Measurement[]) =>
    reasons([...first, ...good]).filter((one) => one.startsWith("event-log-malformed"));
  const measured: Measurement = { pcr: 0, type: EV.EV_S_CRTM_VERSION, data: text("v") };
  test("a second event, one of another PCR, one after a measurement, one of no locality", () => {
    expect(seen(locality(3), locality(3))[0]).toMatch(/a second StartupLocality event$/);
    expect(seen(locality(3, 1))[0]).toMatch(/of PCR 1$/);
    expect(seen(measured, locality(3))[0]).toMatch(/after a measurement of PCR 0$/);
    const broken = { ...locality(3), data: locality(3).data.map((octet, i) => (i === 16 ? 9 : octet)) };
    expect(seen(broken)[0]).toMatch(/unknown-value/);
  });
  test("the value that it starts from is that of the locality", () => {
    // The builder starts PCR 0 at zero: with locality 3 the replay must differ, in that PCR alone.
    expect(reasons([locality(3), ...good])).toEqual(["event-log-mismatch: PCR 0 differ or are not quoted"]);
  });
});

test("another bank than the profile's is no boot to judge", () => {
  const sha384 = { ...load({}), bank: "sha384" as const };
  expect(judge(good, { profile: sha384 }).codes).toContain("quote-invalid");
});

test("all reasons are given at once", () => {
  const broken = [
    ...variables(lab, Uint8Array.of(0)),
    separator,
    separator,
    authority("db", debian),
    authority("MokSBState", Uint8Array.of(1)),
  ];
  expect(judge(broken).codes).toEqual(["validation-off", "secure-boot-mismatch", "authority-not-accepted"]);
});
