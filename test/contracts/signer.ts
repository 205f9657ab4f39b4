import { X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { QueueOptions } from "../../shared/adapters/ca/queue.ts";
import type { SignerPort } from "../../shared/ports/signer.ts";
import { type IssuerFiles, KEY_KINDS, type KeyKind } from "./issuer-files.ts";

/** Makes the signer of one back end: its key is `kind`'s, its chain and bundle are these files. */
export type MakeSigner = (
  kind: KeyKind,
  files: { readonly chainFile: string; readonly bundleFile?: string },
  queue: QueueOptions,
) => Promise<SignerPort>;

const QUEUE: QueueOptions = { concurrency: 2, maxWaiting: 64, waitMs: 20_000 };

/** What every back end must do. @see shared/ports/signer.ts */
export function signerContract(files: () => IssuerFiles, make: MakeSigner): void {
  let next = 0;

  function verified(kind: KeyKind, tbs: Uint8Array, signature: Uint8Array): boolean {
    const name = `contract-${next++}`;
    writeFileSync(files().at(`${name}.tbs`), tbs);
    writeFileSync(files().at(`${name}.sig`), signature);
    return files().verifies(kind, `${name}.sig`, `${name}.tbs`);
  }
  const chainOf = (kind: KeyKind) => ({ chainFile: files().at(`${kind.name}.pem`) });

  describe.each(KEY_KINDS)("a key of the kind $name", (kind) => {
    it("tells its certificate, those it trusts, and its algorithm", async () => {
      const port = await make(kind, { ...chainOf(kind), bundleFile: files().at("other-rsa.pem") }, QUEUE);
      const ders = ["p256", "p384", "rsa", "other-rsa"].map(
        (name) => [name, new Uint8Array(new X509Certificate(readFileSync(files().at(`${name}.pem`))).raw)] as const,
      );
      const named = new Map(ders);
      expect(await port.chain()).toEqual([named.get(kind.name)]);
      expect(await port.trusted()).toEqual([named.get(kind.name), named.get("other-rsa")]);
      expect(await port.algorithm()).toBe(kind.algorithm);
    });

    it.each([1, 700, 100_000])("signs %d bytes, and OpenSSL verifies the DER", async (size) => {
      const port = await make(kind, chainOf(kind), QUEUE);
      const tbs = Uint8Array.from({ length: size }, (_, i) => i % 251);
      expect(verified(kind, tbs, await port.sign(tbs))).toBe(true);
    });

    it("mixes nothing up when many ask at once", async () => {
      const port = await make(kind, chainOf(kind), QUEUE);
      const inputs = Array.from({ length: 12 }, (_, i) => new Uint8Array(200).fill(i));
      const signatures = await Promise.all(inputs.map((tbs) => port.sign(tbs)));
      const wrong = inputs.filter((tbs, i) => !verified(kind, tbs, signatures[i] ?? new Uint8Array(0)));
      expect(wrong).toEqual([]);
      expect(verified(kind, new Uint8Array(200).fill(1), signatures[0] ?? new Uint8Array(0))).toBe(false);
    });

    it("refuses what its queue does not hold, and goes on after", async () => {
      const port = await make(kind, chainOf(kind), { concurrency: 1, maxWaiting: 2, waitMs: 20_000 });
      const tbs = Uint8Array.of(1, 2, 3);
      const results = await Promise.allSettled(Array.from({ length: 5 }, () => port.sign(tbs)));
      expect(results.map(({ status }) => status)).toEqual([
        "fulfilled",
        "fulfilled",
        "fulfilled",
        "rejected",
        "rejected",
      ]);
      expect(results[3]).toMatchObject({
        reason: { name: "PortError", kind: "unavailable", port: "signer", message: expect.stringContaining("full") },
      });
      expect(verified(kind, tbs, await port.sign(tbs))).toBe(true);
    });

    it("never hands out a signature of another key than the certificate's", async () => {
      const signing = async () => {
        const port = await make(kind, { chainFile: files().at(`other-${kind.name}.pem`) }, QUEUE);
        return port.sign(Uint8Array.of(1));
      };
      await expect(signing()).rejects.toMatchObject({ name: "PortError", port: "signer" });
    });
  });
}
