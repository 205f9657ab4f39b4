import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { codeHash } from "../../../shared/attest/seal.ts";
import { spkiSha256 } from "../../../shared/attest/spki.ts";
import { recordSchema } from "../../../shared/fleet/record.ts";
import { readEkCertificate } from "../../../shared/formats/x509/ek-certificate.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { type Attester, AttestWorld, MAC, UUID } from "./attest-world.ts";

interface Claimed {
  readonly digest: string;
  readonly certificate: string | null;
}

const TALOS = { boot: { commandLine: "talos.platform=metal" }, saidCommandLine: "talos.platform=metal" };

/** begin → evidence → confirm against fleetd's own routes, by whatever attests. */
export function attestSuite(name: string, open: (folder: string) => Promise<Attester>): void {
  describe(name, () => {
    let world: AttestWorld;
    let attester: Attester;
    let other: Attester;

    const directory = mkdtempSync(join(tmpdir(), "fleetd-tpms-"));

    beforeAll(async () => {
      attester = await open(join(directory, "one"));
      other = await open(join(directory, "two"));
    });
    afterAll(async () => {
      await attester.close();
      await other.close();
      rmSync(directory, { recursive: true });
    });
    beforeEach(async () => {
      world = await AttestWorld.start();
    });
    afterEach(async () => {
      await world.close();
    });

    const record = async () => {
      const stored = await world.deps.world.records.get(aDevice().id);
      return stored === null ? null : recordSchema.parse(JSON.parse(stored.text));
    };

    test("a planned machine on its port is told to install", async () => {
      await world.declare(attester.tpm);
      const { exit, said, fleetDirectory } = await world.boot(attester);
      expect(said).toContain("attested (install)");
      expect(exit).toBe(0);
      const code = readFileSync(join(fleetDirectory, "install_code"), "utf8");
      expect(code).toMatch(/^[A-Z2-7]{26}$/);
      expect(statSync(join(fleetDirectory, "install_code")).mode & 0o777).toBe(0o600);
      expect(readdirSync(fleetDirectory).sort()).toEqual(["attested", "install_code"]);
      const kept = await record();
      expect(kept?.config).toMatchObject({ codeHash: codeHash(code), state: "unread" });
      expect(kept?.uuid).toBe(UUID);
      expect(world.deps.world.netbox.row(7).interfaces[0]?.primaryMac).toBe(MAC);
      expect(said).not.toContain(code);
      const [bundle] = world.deps.world.evidence;
      expect(JSON.parse(bundle?.json ?? "{}")).toMatchObject({ device: "w1", verdict: { result: "pass" } });
    });

    test("a log of two banks is as good as one", async () => {
      await world.declare(attester.tpm);
      const { said } = await world.boot(attester, { boot: { banks: ["sha1", "sha256"] } });
      expect(said).toContain("attested (install)");
    });

    test("a second boot voids the first code", async () => {
      await world.declare(attester.tpm);
      const first = await world.boot(attester);
      const before = readFileSync(join(first.fleetDirectory, "install_code"), "utf8");
      const second = await world.boot(attester);
      const after = readFileSync(join(second.fleetDirectory, "install_code"), "utf8");
      expect(after).not.toBe(before);
      expect((await record())?.config?.codeHash).toBe(codeHash(after));
    });

    test("an active machine without work is attested", async () => {
      await world.declare(attester.tpm);
      world.deps.world.netbox.owner(7, { status: "active" });
      const { exit, said, fleetDirectory } = await world.boot(attester);
      expect(said).toContain("attested (attested)");
      expect(exit).toBe(0);
      expect(existsSync(join(fleetDirectory, "install_code"))).toBe(false);
    });

    const refusals: readonly [string, Parameters<AttestWorld["boot"]>[1], RegExp][] = [
      ["an unknown serial", { serial: "SN9999" }, /begin: 409 unknown-serial: .*SN9999/],
      ["a placeholder serial", { serial: "Default string" }, /begin: 400 bad-request: serial/],
      ["an all-zero UUID", { uuid: "00000000-0000-0000-0000-000000000000" }, /begin: 400 bad-request: uuid/],
      ["no event log", { eventLog: () => new Uint8Array(0) }, /evidence: 403 event-log-missing/],
      ["a cut event log", { eventLog: (log) => log.subarray(0, -3) }, /evidence: 403 event-log-malformed/],
      ["a log of another boot", { eventLog: (log) => edited(log) }, /evidence: 403 event-log-mismatch/],
      ["a log of SHA-1 alone", { boot: { banks: ["sha1"] } }, /evidence: 403 pcr-zero[\s\S]*a log without this bank/],
      ["an installed system", TALOS, /evidence: 403 not-hookos: command-line: talos.platform=metal/],
      [
        "a command line that was not measured",
        { boot: TALOS.boot },
        /evidence: 403 not-hookos: command-line: not what PCR 9/,
      ],
      ["Secure Boot off", { boot: { secureBoot: false } }, /evidence: 403 secure-boot-mismatch/],
      ["another switch port", { lldpPort: "swp8" }, /confirm: 409 switch-port-mismatch: .*swp8.*swp7/],
      ["no LLDP frame", { lldpPort: null }, /confirm: 409 switch-port-mismatch/],
    ];
    for (const [title, change, words] of refusals) {
      test(`${title} is refused and said`, async () => {
        await world.declare(attester.tpm);
        const { exit, said, fleetDirectory } = await world.boot(attester, change);
        expect(said).toMatch(words);
        expect(said).toContain("not attested after 1 tries");
        expect(exit).toBe(1);
        expect(readdirSync(fleetDirectory)).toEqual([]);
        expect((await record())?.config ?? null).toBe(null);
      });
    }

    test("a foreign firmware authority is refused with every reason", async () => {
      await world.declare(attester.tpm);
      const { exit, said } = await world.boot(attester, { boot: world.foreign });
      expect(said).toMatch(/evidence: 403 authority-not-accepted/);
      expect(said).toMatch(
        / {2}authority: saw db: .*Somebody's boot authority.*expected an authority of profile talos/,
      );
      expect(exit).toBe(1);
      expect((await record())?.verdict).toMatchObject({ result: "fail", codes: ["authority-not-accepted"] });
    });

    test("another machine's TPM is refused, and its claim is kept", async () => {
      await world.declare(other.tpm);
      const { exit, said } = await world.boot(attester);
      expect(said).toMatch(/begin: 409 ek-not-approved/);
      expect(exit).toBe(1);
      const claims = await world.deps.world.store.list("claim:", 10);
      const [claim] = claims.map(({ value }) => JSON.parse(value) as { eks: Claimed[] });
      expect(claim?.eks.map((ek) => ek.digest).sort()).toEqual([...(await attester.tpm.ekDigests())].sort());
      const certified = (claim?.eks ?? []).filter((ek) => ek.certificate !== null);
      expect(certified.length).toBe(attester.certificates);
      for (const { certificate, digest } of certified) {
        const { spki } = readEkCertificate(Buffer.from(certificate ?? "", "base64")).certificate;
        expect(`sha256:${spkiSha256(spki)}`).toBe(digest);
      }
    });

    test("an approved EK that the machine lacks is refused", async () => {
      const [mine = ""] = await attester.tpm.ekDigests();
      const [theirs = ""] = await other.tpm.ekDigests();
      await world.declare(attester.tpm, {
        approvedEks: [mine, theirs].map((digest) => ({ digest, source: "test" })),
      });
      const { said } = await world.boot(attester);
      expect(said).toMatch(/begin: 409 ek-missing: /);
    });

    test("a server that is away is said", async () => {
      const { exit, said } = await world.boot(attester, { url: "https://127.0.0.1:9" });
      expect(said).toMatch(/begin: .*(refused|connect)/i);
      expect(exit).toBe(1);
    });
  });
}

/** The log with one digest changed: the firmware version's. */
function edited(log: Uint8Array): Uint8Array {
  const changed = log.slice();
  const at = Buffer.from(log).indexOf(Buffer.from("lab firmware 1.0", "utf16le"));
  // The digest stands before the data and its four bytes of length.
  changed[at - 5] = (changed[at - 5] ?? 0) ^ 1;
  return changed;
}
