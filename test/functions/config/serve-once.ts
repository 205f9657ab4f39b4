import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { codeHash } from "../../../shared/attest/seal.ts";
import { parseRecord, storeRecord } from "../../../shared/engine/records.ts";
import type { StorePort } from "../../../shared/ports/store.ts";
import { CODE, ConfigWorld, TOKEN, UUID } from "./world.ts";

const BIG_BYTES = 8 * 1024 * 1024;

/** Exactly once over real HTTP, on any store. @see spec/40-config-access.md */
export function servesOnce(openStore: () => Promise<{ store: StorePort | null; close(): Promise<void> }>): void {
  let world: ConfigWorld;
  let opened: Awaited<ReturnType<typeof openStore>>;
  beforeEach(async () => {
    opened = await openStore();
    world = await ConfigWorld.start(opened.store);
  });
  afterEach(async () => {
    await world.close();
    await opened.close();
  });
  const until = (state: string) => expect.poll(async () => (await world.record()).config?.state).toBe(state);

  it("one reader gets it, with its length; the device turns active, the token is made, a repeat is 410", async () => {
    const body = await world.mint();
    const got = await world.read();
    expect(got).toMatchObject({
      status: 200,
      body,
      headers: { "content-length": "2000", "content-type": "application/yaml", "cache-control": "no-store" },
    });
    await until("served");
    await expect.poll(() => world.deps.world.netbox.row(7).status).toBe("active");
    expect(world.deps.world.cluster.tokens).toEqual(new Map([[TOKEN.id, TOKEN.secret]]));
    expect(await world.read()).toMatchObject({ status: 410, body: "code-consumed: served before\n" });
    expect((await world.record()).config?.refetchedAtMs).not.toBeNull();
    for (const status of ["offline", "planned", "decommissioning"]) {
      world.deps.world.netbox.owner(7, { status });
      expect((await world.read()).status).toBe(410);
    }
  });

  it("of 1,000 readers at once exactly one gets it whole, the others 409 or 410", async () => {
    const body = await world.mint(100_000);
    const answers = await Promise.all(Array.from({ length: 1000 }, () => world.read()));
    const whole = answers.filter((a) => a.status === 200);
    expect(whole.map((a) => a.body === body)).toEqual([true]);
    expect(new Set(answers.map((a) => a.status)).difference(new Set([200, 409, 410]))).toEqual(new Set());
    for (const a of answers) if (a.status !== 200) expect(a.body).toMatch(/^(config-being-served|code-consumed): /);
    await until("served");
    const contended = answers.some((a) => a.status === 409);
    expect((await world.record()).config?.contendedAtMs !== null).toBe(contended);
  });

  it("1,000 repeats of a consumed code are all 410", async () => {
    await world.mint();
    await world.read();
    await until("served");
    const answers = await Promise.all(Array.from({ length: 1000 }, () => world.read()));
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([410]));
  });

  it("a reader that breaks off reads again from the same peer, journaled with bytes sent; three times at most", async () => {
    const body = await world.mint(BIG_BYTES);
    for (const breaks of [1, 2]) {
      await world.breakOff();
      await until("unread");
      const { config, journal } = await world.record();
      expect(config).toMatchObject({ breaks, peer: "127.0.0.1", nonce: null });
      const line = journal.find((l) => l.code === `config-broke-${breaks}`)?.text ?? "";
      const sent = Number(/broke after (\d+) bytes/.exec(line)?.[1]);
      expect(sent).toBeGreaterThan(0);
      expect(sent).toBeLessThan(BIG_BYTES);
    }
    const got = await world.read();
    expect([got.status, got.body === body]).toEqual([200, true]);
    await until("served");
  });

  it("after the third break nobody reads it", async () => {
    await world.mint(BIG_BYTES);
    for (let n = 0; n < 3; n++) {
      await world.breakOff();
      await until("unread");
    }
    expect((await world.read()).status).toBe(409);
    expect((await world.record()).config).toMatchObject({ breaks: 3, state: "unread" });
  });

  it("another address after a break: 409, contended, and the first peer is shut out too", async () => {
    await world.mint(BIG_BYTES);
    await world.breakOff();
    await until("unread");
    const other = await world.read(undefined, { localAddress: "127.0.0.2" });
    expect(other).toMatchObject({ status: 409, body: "config-being-served: another reader is at it\n" });
    expect((await world.record()).config?.contendedAtMs).not.toBeNull();
    expect((await world.read()).status).toBe(409);
  });

  it("a second reader while it is served: 409, contended; the running response goes on to its end", async () => {
    const body = await world.mint(BIG_BYTES);
    const first = new Promise<string>((resolve, reject) => {
      world.open(undefined, {}, reject).on("response", async (response) => {
        response.pause();
        await sleep(50);
        const second = await world.read(undefined, { localAddress: "127.0.0.2" });
        if (second.status !== 409) return reject(new Error(`the second reader got ${second.status}`));
        let text = "";
        response.setEncoding("latin1");
        response.on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve(text));
        response.resume();
      });
    });
    expect((await first) === body).toBe(true);
    await until("served");
  });

  it("a reader that left while its answer was prepared costs nothing", async () => {
    const body = await world.mint();
    const { cluster } = world.deps.world;
    const csrs = cluster.csrs.bind(cluster);
    let asked = false;
    cluster.csrs = async () => {
      asked = true;
      await sleep(100);
      return csrs();
    };
    const gone = world.open(undefined, {}, () => undefined);
    await expect.poll(() => asked).toBe(true);
    gone.destroy();
    await until("unread");
    expect((await world.record()).config).toMatchObject({ breaks: 0, peer: null });
    cluster.csrs = csrs;
    expect(await world.read()).toMatchObject({ status: 200, body });
  });

  it("a cluster that does not answer: 503, nothing consumed; after a break the same peer still may", async () => {
    const body = await world.mint(BIG_BYTES);
    await world.breakOff();
    await until("unread");
    world.deps.world.cluster.down = true;
    expect(await world.read()).toMatchObject({ status: 503, headers: { "retry-after": "10" } });
    world.deps.world.cluster.down = false;
    const got = await world.read();
    expect([got.status, got.body === body]).toEqual([200, true]);
  });

  it.each(["netbox", "records"] as const)("%s away: 503, nothing consumed", async (port) => {
    const body = await world.mint();
    world.deps.world[port].down = true;
    expect(await world.read()).toMatchObject({ status: 503, headers: { "retry-after": "10" } });
    world.deps.world[port].down = false;
    expect(await world.read()).toMatchObject({ status: 200, body });
  });

  it("records away right after the store's claim: 503, nothing consumed", async () => {
    const body = await world.mint();
    const { records, store } = world.deps.world;
    const claim = store.claimConfig.bind(store);
    Object.assign(store, {
      claimConfig: async (...args: Parameters<StorePort["claimConfig"]>) => {
        const answer = await claim(...args);
        records.down = true;
        return answer;
      },
    });
    expect((await world.read()).status).toBe(503);
    Object.assign(store, { claimConfig: claim });
    records.down = false;
    expect(await world.read()).toMatchObject({ status: 200, body });
  });

  it("NetBox away when the last byte is out: served, and active is left to the pass", async () => {
    await world.mint();
    const { cluster, netbox } = world.deps.world;
    const create = cluster.createToken.bind(cluster);
    cluster.createToken = async (...args) => {
      netbox.down = true;
      return create(...args);
    };
    expect((await world.read()).status).toBe(200);
    await expect.poll(() => world.deps.lines.join()).toContain("active is left to the pass");
    netbox.down = false;
    expect((await world.read()).status).toBe(410);
    expect(netbox.row(7).status).toBe("planned");
  });

  it("a wrong code, an unknown UUID, a literal variable, an empty or absent code: the same answer, nothing touched", async () => {
    await world.mint();
    const before = await world.deps.world.records.get(7);
    const wrong = `${CODE.slice(0, -1)}3`;
    const literal = encodeURIComponent(`$${"{code}"}`);
    const other = "11111111-2222-4333-8444-555555555555";
    const asks = [
      `uuid=${UUID}&code=${wrong}`,
      `uuid=${other}&code=${CODE}`,
      `uuid=${UUID}&code=${literal}`,
      `uuid=${UUID}&code=`,
      `uuid=${UUID}`,
      `code=${CODE}`,
      `uuid=${UUID}&code=${CODE.toLowerCase()}`,
      "",
    ];
    for (const query of asks) {
      const { status, body, headers } = await world.read(query);
      expect({ status, body }).toEqual({ status: 404, body: "not-found: no such configuration\n" });
      expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    }
    expect(await world.deps.world.records.get(7)).toEqual(before);
    expect((await world.read()).status).toBe(200);
  });

  it("failures are limited per peer, a right code never", async () => {
    const body = await world.mint();
    const statuses: number[] = [];
    for (let n = 0; n < 32; n++) statuses.push((await world.read("uuid=x&code=y")).status);
    expect(statuses).toEqual([...Array<number>(30).fill(404), 429, 429]);
    expect(await world.read()).toMatchObject({ status: 200, body });
  });

  it.each(["HEAD", "POST", "PUT", "DELETE", "OPTIONS"])("%s: 405, nothing touched", async (method) => {
    await world.mint();
    const before = await world.deps.world.records.get(7);
    expect((await world.read(undefined, { method })).status).toBe(405);
    expect(await world.deps.world.records.get(7)).toEqual(before);
    expect((await world.read()).status).toBe(200);
  });

  it("a right code while the device is not planned: 409 not-planned; gone from NetBox: 503", async () => {
    await world.mint();
    world.deps.world.netbox.owner(7, { status: "active" });
    expect(await world.read()).toMatchObject({ status: 409, body: "not-planned: the device is not planned\n" });
    const { netbox } = world.deps.world;
    netbox.device = async () => null;
    expect((await world.read()).status).toBe(503);
  });

  it("a configuration that the store lost: 404 config-missing, noted", async () => {
    await world.mint();
    await world.deps.world.store.dropConfig(7, true);
    const { status, body } = await world.read();
    expect(status).toBe(404);
    expect(body.startsWith("config-missing: ")).toBe(true);
    expect((await world.record()).config).toMatchObject({ state: "unread", missingAtMs: expect.any(Number) });
  });

  it("a response that breaks after its device was retired leaves nothing in the store", async () => {
    await world.mint(BIG_BYTES);
    const { records, store } = world.deps.world;
    const broken = world.breakOff();
    await until("serving");
    const stored = await records.get(7);
    if (stored === null) throw new Error("no record");
    await storeRecord(records, { ...parseRecord(stored), config: null }, stored.resourceVersion);
    await broken;
    const claimed = async () => (await store.claimConfig(7, codeHash(CODE), "another", 1000)).state;
    await expect.poll(claimed).toBe("consumed");
  });

  it("a problem document where Accept names it", async () => {
    const headers = { accept: "application/problem+json" };
    const { body, headers: got } = await world.read("uuid=x", { headers });
    expect(got["content-type"]).toBe("application/problem+json");
    expect(JSON.parse(body)).toMatchObject({ status: 404, code: "not-found" });
  });

  it("no log line holds code, token or body", async () => {
    const body = await world.mint();
    await world.read();
    await world.read(`uuid=${UUID}&code=${CODE}`);
    const said = world.deps.lines.join("\n") + JSON.stringify(await world.record());
    for (const secret of [CODE, TOKEN.secret, body.slice(0, 100)]) expect(said).not.toContain(secret);
  });
}
