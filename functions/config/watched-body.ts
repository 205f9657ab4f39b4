import type { ServerResponse } from "node:http";
import type { Context } from "hono";
import type { Deps } from "../../shared/runtime/deps.ts";

export interface Watch {
  readonly renewEveryMs: number;
  readonly atMostMs: number;
  readonly renew: () => Promise<void>;
  /** The last byte was handed over: consumed, whatever the connection does then. */
  readonly done: () => Promise<void>;
  /** It broke before. */
  readonly broke: (bytesSent: number) => Promise<void>;
  readonly log: Deps["log"];
  readonly sleep: Deps["sleep"];
}

/** Renews until the end. */
async function renewing(watch: Watch, end: AbortSignal): Promise<void> {
  for (;;) {
    await watch.sleep(watch.renewEveryMs, end);
    if (end.aborted) return;
    await watch.renew().catch(() => undefined);
  }
}

/** Runs exactly one of done and broke; its failure is a log line, and the lease that runs out then counts as consumed. */
function settler(watch: Watch): (outcome: "done" | number) => Promise<void> {
  const end = new AbortController();
  void renewing(watch, end.signal);
  let settled = false;
  return async (outcome) => {
    if (settled) return;
    settled = true;
    end.abort();
    try {
      await (outcome === "done" ? watch.done() : watch.broke(outcome));
    } catch (error) {
      watch.log.error({ error: (error as Error).message }, "the end of a serving could not be written");
    }
  };
}

/** False where nobody is there to read. */
function watchOutgoing(outgoing: ServerResponse, watch: Watch, lengthBytes: number): boolean {
  // A reader that left while its answer was prepared ("close" was said already and comes no second time), or a request
  // that waits in a pipeline behind another: node:http gives it no socket yet, and would send what it is handed later.
  if (outgoing.destroyed || outgoing.socket === null || outgoing.socket.destroyed) return false;
  const settle = settler(watch);
  const before = outgoing.socket.bytesWritten;
  const over = new AbortController();
  void watch.sleep(watch.atMostMs, over.signal).then(() => over.signal.aborted || outgoing.destroy());
  outgoing.once("finish", () => {
    over.abort();
    void settle("done");
  });
  outgoing.once("close", () => {
    over.abort();
    const socket = outgoing.socket;
    const sent = socket === null ? 0 : socket.bytesWritten - socket.writableLength - before;
    void settle(Math.max(0, Math.min(sent, lengthBytes)));
  });
  return true;
}

/** A whole configuration fits in one; of a larger payload the bytes sent are known to within this. */
const PIECE_BYTES = 64 * 1024;

function pieces(payload: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at < payload.length) controller.enqueue(payload.subarray(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
      if (at >= payload.length) controller.close();
    },
  });
}

/**
 * One body with Content-Length whose end is watched: on Node by the response's own events ("finish" comes when the
 * operating system has taken the last byte), elsewhere by the stream being read to its end or cancelled. Null where
 * nobody is there for the first byte: then nothing of it may be answered, and neither done nor broke is called.
 */
export function watchedBody(
  c: Context,
  payload: Uint8Array<ArrayBuffer>,
  contentType: string,
  watch: Watch,
): Response | null {
  const headers = {
    "content-type": contentType,
    "content-length": String(payload.length),
    "cache-control": "no-store",
  };
  const outgoing = (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing;
  if (outgoing !== undefined) {
    return watchOutgoing(outgoing, watch, payload.length) ? new Response(pieces(payload), { headers }) : null;
  }
  const settle = settler(watch);
  let handed = false;
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!handed) {
        handed = true;
        controller.enqueue(payload);
        return;
      }
      await settle("done");
      controller.close();
    },
    cancel: () => settle(0),
  });
  return new Response(stream, { headers });
}
