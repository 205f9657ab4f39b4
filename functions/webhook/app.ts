import { Hono } from "hono";
import { z } from "zod";
import { ownPass } from "../../shared/engine/own-pass.ts";
import { hookSignatureFits } from "../../shared/runtime/auth.ts";
import { BODY_BYTES, readBytes } from "../../shared/runtime/body.ts";
import type { AdminDeps } from "../../shared/runtime/deps.ts";
import { notAllowed, onError, problem } from "../../shared/runtime/problem.ts";

/** The only fields that count: which device to read again. No field of a webhook decides anything (bugs/netbox.md 5). */
const hook = z.object({
  timestamp: z.string(),
  object_type: z.string(),
  data: z.object({
    id: z.int().positive(),
    device: z.object({ id: z.int().positive() }).nullish(),
  }),
});

/** A little longer than a lock whose holder died lasts; the timer's pass is not far by then. */
const PATIENCE = { tries: 64, gapMs: 500 };

/** POST /webhooks/netbox: an authenticated hint; the device's own pass follows after the answer. */
export function webhookApp(deps: AdminDeps): Hono {
  const { world, log } = deps;
  const app = new Hono();
  /** Devices whose hint waits for another's pass to end: it will read what a further hint is about. */
  const waiting = new Set<number>();

  async function follow(deviceId: number): Promise<void> {
    if (waiting.has(deviceId)) return;
    const sleep = (ms: number) => {
      waiting.add(deviceId);
      return deps.sleep(ms).finally(() => waiting.delete(deviceId));
    };
    await ownPass({ world, sleep }, deviceId, "pass", PATIENCE);
  }

  app.onError(onError);
  app.post("/webhooks/netbox", async (c) => {
    // NetBox sends whole objects; a device with many fields passes 64 KiB.
    const raw = await readBytes(c, 16 * BODY_BYTES);
    if (!raw.ok) return raw.response;
    if (!hookSignatureFits(raw.value, c.req.header("x-hook-signature"), deps.webhookSecret))
      return problem("unauthorized", "the signature does not fit the body and FLEET_WEBHOOK_SECRET");
    const parsed = hook.safeParse(jsonOf(raw.value));
    if (!parsed.success) return problem("bad-request", "no webhook body of NetBox");
    const sentMs = Date.parse(parsed.data.timestamp);
    const nowMs = world.clock.nowMs();
    if (!(Math.abs(nowMs - sentMs) <= world.settings.durations.webhookMaxAgeMs))
      return problem("unauthorized", "the webhook is older than five minutes");
    const { object_type, data } = parsed.data;
    const deviceId = object_type === "dcim.device" ? data.id : data.device?.id;
    if (deviceId !== undefined)
      follow(deviceId).catch((error: unknown) =>
        log.error({ device: deviceId, error: (error as Error).message }, "pass after webhook failed"),
      );
    return c.json({ accepted: true }, 202);
  });
  app.all("/webhooks/netbox", notAllowed("POST"));
  return app;
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
