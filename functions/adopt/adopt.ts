import type { Context } from "hono";
import { recordedIdentity } from "../../shared/attest/node-certificate.ts";
import { installConflictOf, inventory } from "../../shared/engine/inventory.ts";
import { currentClasses } from "../../shared/engine/observe.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import { approvedDigests } from "../../shared/fleet/binding.ts";
import { freezeClass } from "../../shared/fleet/class.ts";
import { adoptionWait, conflictWait } from "../../shared/fleet/plan/owner-waits.ts";
import { withAdoptedIdentity } from "../../shared/fleet/plan/renewal.ts";
import { BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { problem } from "../../shared/runtime/problem.ts";
import { adoptRequest } from "./schema.ts";
import { shownCertificates, shownProblem } from "./shown.ts";

/** POST /devices/{name}/adopt: a running node's certificates in; they are its recorded identity from now on. */
export async function adopt(deps: Deps, c: Context, name: string): Promise<Response> {
  const body = await readJson(c, adoptRequest, BODY_BYTES);
  if (!body.ok) return body.response;
  const { world } = deps;
  const shown = shownCertificates(body.value.certificates);
  if (typeof shown === "string") return problem("bad-request", `certificates: ${shown}`, { field: "certificates" });
  const devices = await inventory(world);
  const listed = devices.find((d) => d.name === name);
  const device = listed === undefined ? null : await world.netbox.device(listed.id);
  if (device === null || device.name !== name) return problem("not-found", "no device of the fleet has that name");
  const approvedEks = approvedDigests(device.approvedEks);
  const unfit =
    adoptionWait(device, (await world.policy.current()).ekPins) ??
    conflictWait(device, await installConflictOf(world, device.id, devices));
  if (unfit !== null) return problem(unfit.code, unfit.detail);
  const { classes, classInputs } = await currentClasses(world);
  const now = freezeClass(device.fleetClass, classes, classInputs);
  if (now === null) return problem("class-unknown", `${name}'s class ${device.fleetClass ?? "(none)"} is not known`);
  const nowMs = world.clock.nowMs();
  const trusted = await world.signer.trusted();
  const wrong = shownProblem(shown, { device, approvedEks, trusted, nowMs });
  if (wrong !== null) return problem("identity-unknown", wrong);
  const identity = recordedIdentity(shown);
  const about = { identity, class: now, approvedEks, nowMs };
  const record = await updateRecord(world, device, (r) => withAdoptedIdentity(r, about));
  if (record.identity?.ldevid.serialNumber !== identity.ldevid.serialNumber)
    return problem("identity-changed", `approved_eks of ${name} changed since its last pass: set it planned first`);
  deps.log.info({ device: name, serial: identity.ldevid.serialNumber }, "identity adopted");
  return c.json({ device: name, class: record.installed?.class.name ?? now.name, identity });
}
