import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SoftTpm } from "../../../../infra/lab/tpm/soft-tpm.ts";
import { judgeAk, judgeEk, judgeLdevid, nameOf, readPublic } from "../../../../shared/attest/keys.ts";
import { makeCredential } from "../../../../shared/attest/make-credential.ts";
import { quoteProblem } from "../../../../shared/attest/quote.ts";

const directory = mkdtempSync(join(tmpdir(), "fleetd-soft-tpm-"));
const random = (count: number) => new Uint8Array(randomBytes(count));
let tpm: SoftTpm;
let other: SoftTpm;

beforeAll(async () => {
  tpm = new SoftTpm(join(directory, "one"));
  other = new SoftTpm(join(directory, "two"));
  await tpm.powerOn([]);
  await other.powerOn([]);
});
afterAll(() => rmSync(directory, { recursive: true }));

describe("SoftTpm", () => {
  test("keeps its EKs, and has others than another TPM", async () => {
    expect(await new SoftTpm(join(directory, "one")).ekDigests()).toEqual(await tpm.ekDigests());
    expect(await other.ekDigests()).not.toEqual(await tpm.ekDigests());
  });

  test("has keys of the attributes and templates that fleetd asks for", () => {
    for (const area of tpm.eks()) expect(judgeEk(readPublic(area))).toBeNull();
    expect(judgeAk(tpm.createKey("restricted").area)).toBeNull();
    expect(judgeLdevid(tpm.createKey("unrestricted").area)).toBeNull();
  });

  test("opens a credential for its own EK and AK, and no other", () => {
    const ak = tpm.createKey("restricted");
    const secret = random(32);
    for (const [index, ekPublic] of tpm.eks().entries()) {
      const made = makeCredential({ ekPublic, name: nameOf(ak.area), secret, random });
      expect([...tpm.activate(index, ak, made.credentialBlob, made.secret)]).toEqual([...secret]);
      const another = tpm.createKey("restricted");
      expect(() => tpm.activate(index, another, made.credentialBlob, made.secret)).toThrow("TPM_RC_INTEGRITY");
      expect(() => other.activate(index, ak, made.credentialBlob, made.secret)).toThrow();
    }
  });

  test("quotes the PCRs that were extended", async () => {
    const digest = random(32);
    await tpm.powerOn([{ pcr: 7, digests: { sha256: digest } }]);
    const value = createHash("sha256").update(new Uint8Array(32)).update(digest).digest("hex");
    const ak = tpm.createKey("restricted");
    const expectedExtraData = random(32);
    const quote = tpm.quote(ak, "sha256", [7, 0], expectedExtraData);
    expect(quote.pcrs).toEqual({ 0: "00".repeat(32), 7: value });
    const asked = { akPublic: ak.area, ...quote, expectedExtraData, bank: "sha256", select: [0, 7] } as const;
    expect(quoteProblem(asked)).toBeNull();
    expect(quoteProblem({ ...asked, pcrs: { ...quote.pcrs, 0: "01".repeat(32) } })?.code).toBe("quote-invalid");
  });

  test("loads the keys that it made, after a restart too, and no other's", async () => {
    const ldevid = tpm.createKey("unrestricted");
    const again = new SoftTpm(join(directory, "one"));
    await again.powerOn([]);
    expect(again.load(ldevid.area, ldevid.private).public).toEqual(ldevid.public);
    expect(() => other.load(ldevid.area, ldevid.private)).toThrow();
    expect(() => again.load(tpm.createKey("restricted").area, ldevid.private)).toThrow();
  });

  test("signs nothing from outside by a restricted key, and nothing at all without power", async () => {
    expect(() => tpm.sign(tpm.createKey("restricted"), random(8))).toThrow("TPM_RC_TICKET");
    const ldevid = tpm.createKey("unrestricted");
    await tpm.powerOff();
    expect(() => tpm.sign(ldevid, random(8))).toThrow("no power");
    await tpm.powerOn([]);
  });
});
