import { mkdtempSync, rmSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type RedisPeer, startRedis } from "../peers/redis/start.ts";

/** A primary with one replica behind an address that follows whoever is primary, as a virtual address or a proxy does. */
export interface RedisPair {
  /** The address: where clients go. */
  readonly url: string;
  /** Waits until the replica has all that the primary has. */
  settled(): Promise<void>;
  /** From now on the replica hears nothing: what comes later is lost with the primary. */
  cut(): Promise<void>;
  /** The primary answers nobody until it is `oldPrimary`. */
  freeze(): void;
  /** The primary goes, the replica takes its place and its address. */
  failOver(how: "killed" | "frozen"): Promise<void>;
  /** The address goes to the replica while it still is one. */
  misdirect(): void;
  /** Empties whoever is primary. */
  flush(): Promise<void>;
  /** The old primary comes back (frozen: as it was), beside the address. */
  oldPrimary(): Promise<Redis>;
  close(): Promise<void>;
}

export async function startPair(binary: string): Promise<RedisPair> {
  const folder = mkdtempSync(join(tmpdir(), "fleetd-pair-"));
  const primary = await startRedis(binary, folder, "primary", ["--repl-diskless-sync-delay", "0"]);
  const follow = ["--replicaof", "127.0.0.1", `${primary.port}`];
  const replica = await startRedis(binary, folder, "replica", follow);
  const clients: Redis[] = [];
  const to = (peer: RedisPeer) => {
    const client = new Redis({ host: "127.0.0.1", port: peer.port });
    client.on("error", () => undefined);
    clients.push(client);
    return client;
  };
  const [toPrimary, toReplica] = [to(primary), to(replica)];
  const way = await movableAddress(primary.port);
  let now = toPrimary;
  const offset = (info: string, field: string) => Number(new RegExp(`^${field}:(\\d+)`, "m").exec(info)?.[1] ?? -1);
  // Not WAIT: it waits for what its own connection wrote, and that is nothing.
  const settled = async () => {
    const written = offset(await toPrimary.info("replication"), "master_repl_offset");
    for (;;) {
      const heard = await toReplica.info("replication");
      if (/master_link_status:up/.test(heard) && offset(heard, "slave_repl_offset") >= written) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await settled();
  return {
    url: `redis://127.0.0.1:${way.port}`,
    settled,
    async cut() {
      await toReplica.replicaof("NO", "ONE");
    },
    freeze: () => void primary.process.child.kill("SIGSTOP"),
    async failOver(how) {
      if (how === "killed") await primary.stop("SIGKILL");
      else primary.process.child.kill("SIGSTOP");
      await toReplica.replicaof("NO", "ONE");
      way.moveTo(replica.port);
      now = toReplica;
    },
    misdirect: () => way.moveTo(replica.port),
    async flush() {
      await now.flushall();
    },
    async oldPrimary() {
      primary.process.child.kill("SIGCONT");
      if (!primary.process.running()) await primary.start();
      return to(primary);
    },
    async close() {
      for (const client of clients) client.disconnect();
      way.close();
      await primary.stop();
      await replica.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function movableAddress(first: number) {
  let target = first;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const far = new Socket();
    far.connect(target, "127.0.0.1");
    for (const [from, into] of [
      [socket, far],
      [far, socket],
    ] as const) {
      open.add(from);
      from
        .on("error", () => into.destroy())
        .on("close", () => {
          open.delete(from);
          into.destroy();
        });
      from.pipe(into);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the address has no port");
  const drop = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: address.port,
    moveTo(port: number) {
      target = port;
      drop();
    },
    close() {
      server.close();
      drop();
    },
  };
}
