import type { Context } from "hono";
import { acceptFailures, acceptHeldRequest, acceptVanished } from "../../shared/engine/accept.ts";
import { inventory } from "../../shared/engine/inventory.ts";
import { passForDevice } from "../../shared/engine/pass.ts";
import { seen } from "../../shared/engine/seen.ts";
import type { RequestKind } from "../../shared/fleet/accepted-request.ts";
import { isoTime } from "../../shared/fleet/moment.ts";
import { callerName } from "../../shared/runtime/auth.ts";
import { BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { problem } from "../../shared/runtime/problem.ts";
import { acceptRequest } from "./schema.ts";

async function ofDevice(deps: Deps, name: string, what: RequestKind | null, by: string): Promise<Response> {
  const { world } = deps;
  const listed = (await inventory(world)).find((d) => d.name === name);
  const device = listed === undefined ? null : await world.netbox.device(listed.id);
  if (device === null || device.name !== name) return problem("not-found", "no device of the fleet has that name");
  const answer = await acceptHeldRequest(world, device, what, by);
  if (!answer.ok) return problem("nothing-to-accept", answer.detail);
  const { kind, request, atMs, by: who } = answer.accepted;
  if (answer.isNew) deps.log.info({ device: name, what: kind, request: request.id, by }, "held request accepted");
  // Taken up at once where nobody else is at the device; else by the next pass.
  await seen(world, name, () => passForDevice(world, device.id, "pass"));
  return Response.json({
    device: name,
    what: kind,
    request: request.id,
    by: who,
    at: isoTime(atMs),
    new: answer.isNew,
  });
}

async function ofFleet(deps: Deps, fleet: "vanished" | "failures", by: string): Promise<Response> {
  const answer = await (fleet === "vanished" ? acceptVanished : acceptFailures)(deps.world, by);
  if (!answer.ok) return problem("nothing-to-accept", answer.detail);
  const { devices, atMs, by: who } = answer.accepted;
  if (answer.isNew) deps.log.info({ fleet, devices, by }, "accepted");
  return Response.json({ fleet, devices, by: who, at: isoTime(atMs), new: answer.isNew });
}

/** POST /accept: an administrator's word for a held request, or for what many devices did at once. */
export async function accept(deps: Deps, c: Context): Promise<Response> {
  const body = await readJson(c, acceptRequest, BODY_BYTES);
  if (!body.ok) return body.response;
  const { device, what, fleet } = body.value;
  const by = callerName(c);
  return fleet === undefined ? ofDevice(deps, device ?? "", what ?? null, by) : ofFleet(deps, fleet, by);
}
