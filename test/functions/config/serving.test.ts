import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { passForDevice } from "../../../shared/engine/pass.ts";
import { updateRecord } from "../../../shared/engine/records.ts";
import { PortError } from "../../../shared/ports/error.ts";
import type { StorePort } from "../../../shared/ports/store.ts";
import { identityOf } from "../../scenarios/acts.ts";
import { aDevice } from "../../scenarios/fixtures.ts";
import { ConfigWorld, TOKEN } from "./world.ts";

const BIG_BYTES = 8 * 1024 * 1024;
let world: ConfigWorld;
afterEach(() => world.close());
const until = (state: string) => expect.poll(async () => (await world.record()).config?.state).toBe(state);
const opened = () =>
  new Promise<IncomingMessage>((resolve, reject) => {
    world.open(undefined, {}, reject).on("response", (response) => {
      response.pause();
      resolve(response);
    });
  });

/** Time that passes when the test says so: a loaded machine cuts nobody off. */
class Sleepers {
  #nowMs = 0;
  #asleep: { readonly untilMs: number; readonly wake: () => void }[] = [];

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((wake) => {
      this.#asleep.push({ untilMs: this.#nowMs + ms, wake });
      signal?.addEventListener("abort", () => wake());
    });

  pass(ms: number): void {
    this.#nowMs += ms;
    const due = this.#asleep.filter(({ untilMs }) => untilMs <= this.#nowMs);
    this.#asleep = this.#asleep.filter((one) => !due.includes(one));
    for (const { wake } of due) wake();
  }
}

describe("a slow reader", () => {
  it("outlives many leases, which are renewed while it is served", async () => {
    world = await ConfigWorld.start(null, { configLeaseMs: 150 });
    await world.mint(BIG_BYTES);
    const response = await opened();
    await sleep(600);
    expect((await world.record()).config?.state).toBe("serving");
    let bytes = 0;
    for await (const part of response) bytes += (part as Buffer).length;
    expect(bytes).toBe(BIG_BYTES);
    await until("served");
  });

  it("is cut at the limit of a serving, and may read again", async () => {
    world = await ConfigWorld.start(null);
    const sleepers = new Sleepers();
    Object.assign(world.deps, { sleep: sleepers.sleep });
    const body = await world.mint(BIG_BYTES);
    const response = await opened();
    response.on("error", () => undefined);
    const { configServingMs } = world.deps.world.settings.durations;
    sleepers.pass(configServingMs - 1);
    // Time for a cut, were there one.
    await sleep(50);
    expect((await world.record()).config?.state).toBe("serving");
    sleepers.pass(1);
    await until("unread");
    expect((await world.record()).config?.breaks).toBe(1);
    response.destroy();
    expect((await world.read()).body === body).toBe(true);
  });
});

describe("active after the serving", () => {
  it("is written over the row that the serving began with alone: an owner's newer word is left for the pass to weigh", async () => {
    world = await ConfigWorld.start(null);
    await world.mint(BIG_BYTES);
    const response = await opened();
    const { netbox } = world.deps.world;
    netbox.owner(7, { status: "active" });
    netbox.owner(7, { status: "planned" });
    response.resume();
    await until("served");
    await sleep(50);
    expect(netbox.row(7).status).toBe("planned");
  });

  it("is written at once where nobody came between", async () => {
    world = await ConfigWorld.start(null);
    await world.mint();
    expect((await world.read()).status).toBe(200);
    await expect.poll(() => world.deps.world.netbox.row(7).status).toBe("active");
  });
});

describe("the payload", () => {
  /** Whether the payload lies in the store still, under the claim that read it. */
  const lies = async () => {
    const { nonce, codeHash } = (await world.record()).config ?? { nonce: null, codeHash: "" };
    return (await world.deps.world.store.claimConfig(7, codeHash, nonce ?? "", 60_000)).state === "claimed";
  };

  it("goes with the next pass where the store failed, or a process died, before it was deleted", async () => {
    world = await ConfigWorld.start(null);
    await world.mint();
    const { store } = world.deps.world;
    const failing: StorePort["settleConfig"] = async () => {
      throw new PortError("unavailable", "store", "no answer");
    };
    Object.assign(world.deps.world, { store: { ...store, settleConfig: failing } });
    expect((await world.read()).status).toBe(200);
    await until("served");
    Object.assign(world.deps.world, { store });
    expect(await lies()).toBe(true);
    await passForDevice(world.deps.world, 7, "pass");
    expect(await lies()).toBe(false);
    expect((await world.record()).due).toEqual([]);
    expect((await world.read()).status).toBe(410);
  });

  it("stays owed where the store does not answer the pass either", async () => {
    world = await ConfigWorld.start(null);
    await world.mint();
    const { store } = world.deps.world;
    const fail = async () => {
      throw new PortError("unavailable", "store", "no answer");
    };
    Object.assign(world.deps.world, { store: { ...store, settleConfig: fail, dropConfig: fail } });
    expect((await world.read()).status).toBe(200);
    await until("served");
    await passForDevice(world.deps.world, 7, "pass");
    expect((await world.record()).due).toEqual([{ do: "drop-config" }]);
    Object.assign(world.deps.world, { store });
    await passForDevice(world.deps.world, 7, "pass");
    expect(await lies()).toBe(false);
  });
});

describe("the node's token", () => {
  const at = (ms: number) => Object.assign(world.deps.world, { clock: { nowMs: () => ms } });

  it("is the same Secret for a reader that comes again after a break", async () => {
    world = await ConfigWorld.start(null);
    await world.mint(BIG_BYTES);
    const nowMs = Date.now();
    at(nowMs);
    await world.breakOff();
    await until("unread");
    const first = (await world.record()).token?.expiresAtMs;
    expect(first).toBe(nowMs + 3_600_000);
    at(nowMs + 60_000);
    expect((await world.read()).status).toBe(200);
    await until("served");
    expect((await world.record()).token?.expiresAtMs).toBe(first);
    expect([...world.deps.world.cluster.tokens.keys()]).toEqual([TOKEN.id]);
  });

  it("that expired meanwhile is not renewed: config-missing, and a new provision ends it", async () => {
    world = await ConfigWorld.start(null);
    await world.mint(BIG_BYTES);
    const nowMs = Date.now();
    at(nowMs);
    await world.breakOff();
    await until("unread");
    at(nowMs + 3_600_000);
    expect(await world.read()).toMatchObject({ status: 404, body: expect.stringMatching(/^config-missing: /) });
    expect((await world.record()).config).toMatchObject({ state: "unread", missingAtMs: expect.any(Number) });
  });

  it("that is not answered for by the cluster once made is made by the next claim with the same content", async () => {
    world = await ConfigWorld.start(null);
    const body = await world.mint();
    const { cluster } = world.deps.world;
    const create = cluster.createToken.bind(cluster);
    cluster.createToken = async (...args) => {
      await create(...args);
      cluster.down = true;
      return create(...args);
    };
    expect((await world.read()).status).toBe(503);
    await until("unread");
    cluster.createToken = create;
    cluster.down = false;
    await sleep(5);
    expect(await world.read()).toMatchObject({ status: 200, body });
  });
});

it("a serving that a pass gave up for lost ends as lost, and the device does not turn active", async () => {
  world = await ConfigWorld.start(null);
  await world.mint();
  const { cluster, netbox } = world.deps.world;
  const create = cluster.createToken.bind(cluster);
  cluster.createToken = async (...args) => {
    await updateRecord(world.deps.world, aDevice(), (r) => ({
      ...r,
      config: r.config && { ...r.config, state: "lost" },
    }));
    return create(...args);
  };
  expect((await world.read()).status).toBe(200);
  await sleep(50);
  expect((await world.record()).config?.state).toBe("lost");
  expect(netbox.row(7).status).toBe("planned");
  expect((await world.read()).status).toBe(410);
});

describe("a name that is another node's by now", () => {
  it("is not served a second time: 409, nothing consumed, its owner told; once that one is renamed it is", async () => {
    world = await ConfigWorld.start(null);
    const body = await world.mint(100, { pendingIdentity: identityOf("w1", "SN0001", 1) });
    const { world: w } = world.deps;
    w.netbox.owner(7, { name: "renamed" });
    const other = { ...aDevice(), id: 8, name: "w1", serial: "SN8", status: "active" };
    w.netbox.declare(other);
    await updateRecord(w, other, (r) => ({ ...r, identity: identityOf("w1", "SN8", 2) }));
    const refused = await world.read();
    expect([refused.status, refused.body.split(":")[0]]).toEqual([409, "inventory-conflict"]);
    expect((await world.record()).attention).toMatchObject({ code: "inventory-conflict", about: "configuration" });
    expect((await world.record()).config?.state).toBe("unread");
    await updateRecord(w, other, (r) => ({ ...r, identity: identityOf("w8", "SN8", 3) }));
    expect(await world.read()).toMatchObject({ status: 200, body });
    expect((await world.record()).attention).toBeNull();
  });
});
