import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { queued } from "../../../../shared/adapters/ca/queue.ts";
import type { SignerPort } from "../../../../shared/ports/signer.ts";

/** A signer whose signatures end when the test says so; each is the number of the call. */
function slowSigner() {
  const open: { end(): void; fail(): void }[] = [];
  let most = 0;
  let now = 0;
  const port: SignerPort = {
    chain: async () => [],
    trusted: async () => [],
    algorithm: async () => "ecdsa-sha256",
    sign: (tbs) =>
      new Promise((resolve, reject) => {
        now++;
        most = Math.max(most, now);
        const settle = (how: () => void) => () => {
          now--;
          how();
        };
        open.push({ end: settle(() => resolve(tbs)), fail: settle(() => reject(new Error("away"))) });
      }),
  };
  return { port, open, most: () => most };
}
const call = (n: number) => Uint8Array.of(n);

it("runs so many at once and no more, first come, first served", async () => {
  const { port, open, most } = slowSigner();
  const queue = queued(port, { concurrency: 2, maxWaiting: 10, waitMs: 10_000 });
  const order: number[] = [];
  const all = [0, 1, 2, 3, 4].map(async (n) => order.push((await queue.sign(call(n)))[0] ?? -1));
  for (let n = 0; n < 5; n++) {
    await sleep(1);
    expect(open.length).toBe(Math.min(5, n + 2));
    open[n]?.end();
  }
  await Promise.all(all);
  expect([order, most()]).toEqual([[0, 1, 2, 3, 4], 2]);
});

it("refuses what does not fit, at once, and takes others when there is room", async () => {
  const { port, open } = slowSigner();
  const queue = queued(port, { concurrency: 1, maxWaiting: 1, waitMs: 10_000 });
  const first = queue.sign(call(0));
  const second = queue.sign(call(1));
  await expect(queue.sign(call(2))).rejects.toMatchObject({ kind: "unavailable", port: "signer" });
  open[0]?.end();
  await first;
  const third = queue.sign(call(3));
  await sleep(1);
  open[1]?.end();
  await second;
  await sleep(1);
  open[2]?.end();
  expect(await third).toEqual(call(3));
});

it("lets nobody wait longer than it says, and the place of who gave up is free", async () => {
  const { port, open } = slowSigner();
  const queue = queued(port, { concurrency: 1, maxWaiting: 1, waitMs: 30 });
  const first = queue.sign(call(0));
  await expect(queue.sign(call(1))).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("no turn within 30 ms"),
  });
  const third = queue.sign(call(2));
  open[0]?.end();
  await first;
  await sleep(1);
  open[1]?.end();
  expect(await third).toEqual(call(2));
  expect(open.length).toBe(2);
});

it("loses no place by failures", async () => {
  const { port, open } = slowSigner();
  const queue = queued(port, { concurrency: 2, maxWaiting: 100, waitMs: 10_000 });
  const all = Promise.allSettled(Array.from({ length: 50 }, (_, n) => queue.sign(call(n))));
  for (let n = 0; n < 50; n++) {
    while (open.length <= n) await sleep(1);
    open[n]?.fail();
  }
  expect((await all).every(({ status }) => status === "rejected")).toBe(true);
  const [a, b] = [queue.sign(call(1)), queue.sign(call(2))];
  await sleep(1);
  expect(open.length).toBe(52);
  open[50]?.end();
  open[51]?.end();
  expect(await Promise.all([a, b])).toEqual([call(1), call(2)]);
});
