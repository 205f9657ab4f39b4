import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  loadProfile,
  overlaps,
  profilePcrs,
  profilesFault,
  stagesWithoutAuthority,
} from "../../../shared/attest/profile.ts";
import { vectorText } from "../../vectors/read.ts";

const lab = vectorText("vm/certs/lab-db.pem");
const debian = vectorText("vm/certs/Debian-Secure-Boot-CA.pem");
const fingerprint = "9f513911167489650b1a95f28d1372c15ee6c6e6ba261690b7ec7065ee8f00bc";
const base = {
  name: "debian",
  bank: "sha256",
  authorities: [
    { pem: lab, for: ["hookos"] },
    { pem: debian, for: ["os"] },
  ],
};

test("a profile with PEMs is read to fingerprints and subjects", () => {
  const loaded = loadProfile(base);
  if (!loaded.ok) throw new Error(loaded.problem);
  expect(loaded.profile.authorities[0]).toEqual({
    sha256: fingerprint,
    subject: "CN=fleetd lab Secure Boot signing,O=fleetd lab",
    for: ["hookos"],
  });
  expect([overlaps(loaded.profile), profilePcrs(loaded.profile)]).toEqual([false, [0, 1, 2, 3, 4, 5, 6, 7]]);
  expect(loaded.profile.beforeSeparator).toBeNull();
});

test("a required event's PCR is quoted too", () => {
  const loaded = loadProfile({
    ...base,
    requiredEvents: [{ pcr: 14, digest: "00".repeat(32) }],
    beforeSeparator: [{ pem: debian }],
  });
  if (!loaded.ok) throw new Error(loaded.problem);
  expect(profilePcrs(loaded.profile)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 14]);
  expect(loaded.profile.beforeSeparator?.length).toBe(1);
});

test("a profile's name is its file's", () => {
  expect(loadProfile(base, "debian").ok).toBe(true);
  expect(profilesFault({ debian: base })).toBeNull();
  expect(profilesFault({ debian: base, talos: base })).toBe(
    "talos.json: its name is debian, and its file is talos.json: they must agree",
  );
});

test("a profile for one stage loads; it is known where nobody passes", () => {
  const stages = (authorities: unknown) => {
    const loaded = loadProfile({ ...base, authorities });
    if (!loaded.ok) throw new Error(loaded.problem);
    return stagesWithoutAuthority(loaded.profile);
  };
  expect(stages(base.authorities)).toEqual([]);
  expect(stages([{ pem: lab, for: ["hookos"] }])).toEqual(["os"]);
  expect(stages([{ pem: lab, for: ["os"] }])).toEqual(["hookos"]);
});

describe("profiles that are refused", () => {
  const overlapping = [{ sha256: fingerprint, subject: "lab", for: ["hookos", "os"] }];
  const cases: [string, unknown, RegExp][] = [
    [
      "overlapping lists without markers",
      { ...base, authorities: overlapping },
      /hookosMarker and osMarker are needed/,
    ],
    ["overlapping lists with one marker", { ...base, authorities: overlapping, hookosMarker: "a" }, /are needed/],
    [
      "two markers that are the same",
      { ...base, authorities: overlapping, hookosMarker: "a", osMarker: "a" },
      /same word/,
    ],
    ["a marker of two words", { ...base, hookosMarker: "a b" }, /one word/],
    [
      "a certificate in two lines",
      { ...base, authorities: [...base.authorities, { pem: lab, for: ["os"] }] },
      /listed twice/,
    ],
    ["no authority", { ...base, authorities: [] }, /authorities/],
    ["an authority for no stage", { ...base, authorities: [{ pem: lab, for: [] }] }, /for/],
    ["an unknown key", { ...base, surplus: 1 }, /surplus/],
    ["the SHA-1 bank", { ...base, bank: "sha1" }, /bank/],
    ["a PEM without a certificate", { ...base, authorities: [{ pem: "x", for: ["os"] }] }, /no certificate/],
    [
      "a PEM that is none",
      { ...base, authorities: [{ pem: lab.replace(/[A-Z]{8}/, "????????"), for: ["os"] }] },
      /PEM|truncated|base64/,
    ],
    ["PCR 10", { ...base, requiredEvents: [{ pcr: 10, digest: "00".repeat(32) }] }, /PCR 10/],
    ["a digest of another bank", { ...base, requiredEvents: [{ pcr: 4, digest: "00".repeat(48) }] }, /sha256 bank/],
    ["nothing", null, /./],
  ];
  test.each(cases)("%s", (_, json, reason) => {
    const loaded = loadProfile(json);
    expect(loaded.ok ? "accepted" : loaded.problem).toMatch(reason);
    expect(loaded.ok).toBe(false);
  });
});

test("whatever JSON a profile is, it is read or refused", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => typeof loadProfile(json).ok === "boolean" && !loadProfile(json).ok),
    { numRuns: 500, seed: 20_261_129 },
  );
});
