import type { Context } from "hono";
import { bytes } from "../../shared/attest/bytes.ts";
import { wrapInstallCode } from "../../shared/attest/code-wrap.ts";
import { toBase64 } from "../../shared/attest/hex.ts";
import { nameOf, readPublic } from "../../shared/attest/keys.ts";
import { type ConfirmClaims, confirmMessage } from "../../shared/attest/session.ts";
import { sessionKey } from "../../shared/attest/session-key.ts";
import { signatureProblem } from "../../shared/attest/signature.ts";
import { ownPass } from "../../shared/engine/own-pass.ts";
import { updateRecord } from "../../shared/engine/records.ts";
import type { ReasonOf } from "../../shared/fleet/condition.ts";
import type { Device } from "../../shared/fleet/device.ts";
import { admissionAnswer, withHookosAgain } from "../../shared/fleet/plan/admit.ts";
import { withAttention } from "../../shared/fleet/plan/quarantine.ts";
import { wiringFault } from "../../shared/fleet/plan/wiring.ts";
import { identityFault, isSameMachine } from "../../shared/fleet/same-machine.ts";
import { readCertificatePems } from "../../shared/formats/x509/pem.ts";
import { BODY_BYTES, readJson } from "../../shared/runtime/body.ts";
import type { Deps } from "../../shared/runtime/deps.ts";
import { problem } from "../../shared/runtime/problem.ts";
import { takeSession } from "../../shared/runtime/session.ts";
import { lldpSeen } from "./lldp.ts";
import { mint } from "./mint.ts";
import { protocolCode } from "./protocol-code.ts";
import { confirmClaims, confirmRequest } from "./schema.ts";

/** Five seconds: else the machine would lose a try to a pass that is at its device just now. */
const PATIENCE = { tries: 20, gapMs: 250 };

const leaf = (pem: string | null): Uint8Array | null => (pem === null ? null : (readCertificatePems(pem)[0] ?? null));

/** Tells the machine to wait, and everybody else why. */
async function wait(deps: Deps, device: Device, code: ReasonOf<"MachineWaits">, detail: string): Promise<Response> {
  const nowMs = deps.world.clock.nowMs();
  await updateRecord(deps.world, device, (r) => withAttention(r, code, detail, "confirm", nowMs));
  return problem(code, detail);
}

async function install(
  deps: Deps,
  c: Context,
  device: Device,
  claims: ConfirmClaims,
  run: Parameters<typeof mint>[2],
): Promise<Response> {
  const { world } = deps;
  if (run.class?.class.secureBoot === "off" && world.settings.unverifiedBoot !== "accept")
    return wait(
      deps,
      device,
      "boot-unverified",
      "the class asks for no Secure Boot, so the boot proves nothing: no code without FLEET_UNVERIFIED_BOOT=accept",
    );
  const minted = await mint(deps, device, run, claims);
  if (!minted.ok) return wait(deps, device, minted.code, minted.detail);
  const [ek] = claims.eks;
  if (ek === undefined) throw new Error("a session without an EK");
  const wrapped = wrapInstallCode({
    ekPublic: bytes(ek.public),
    akName: nameOf(readPublic(bytes(claims.akPublic))),
    code: minted.code,
    random: (n) => world.entropy.bytes(n),
  });
  deps.metrics.answer("confirm", "install");
  return c.json({
    outcome: "install",
    installCode: { ek: ek.digest, credentialBlob: toBase64(wrapped.credentialBlob), secret: toBase64(wrapped.secret) },
  });
}

const MOVED = "serial or approved EKs changed since evidence; attest again";

/** POST /attest/v1/confirm: the LDevID key's signature in; admission, and an install code for this TPM, out. */
export async function confirm(deps: Deps, c: Context): Promise<Response> {
  const body = await readJson(c, confirmRequest, BODY_BYTES);
  if (!body.ok) return body.response;
  const session = await takeSession(deps, sessionKey, body.value.session, confirmClaims);
  if (!session.ok) return problem(session.code, session.detail);
  const claims = session.claims as ConfirmClaims;
  const message = confirmMessage(bytes(claims.confirm), leaf(claims.ldevid), leaf(claims.lak));
  const wrong = signatureProblem(readPublic(bytes(claims.ldevidPublic)), message, bytes(body.value.signature));
  if (wrong !== null) return problem("confirm-invalid", `the LDevID key's signature does not fit: ${wrong}`);
  const { world } = deps;
  const device = await world.netbox.device(claims.deviceId);
  if (device === null) return problem("inventory-unavailable", "the device is not to be found just now; try again");
  if (!isSameMachine(device, claims)) return wait(deps, device, "identity-changed", MOVED);
  const seen = lldpSeen(claims.lldp === null ? null : bytes(claims.lldp));
  const wiring = device.status === "planned" ? wiringFault(device, seen, world.settings.switchPort) : null;
  if (wiring !== null) return wait(deps, device, "switch-port-mismatch", wiring);
  const pass = await ownPass(deps, device.id, "confirm", PATIENCE);
  if (pass === null) return problem("run-preparing", "another pass is at this device; attest again");
  // What it observed is no ground for a code while a step of its plan is still to be done: it may be a withdrawal.
  if (pass.failed) return problem("run-preparing", "a step of this device's pass failed; attest again");
  // Read again by the pass: the run that it may have started is for the machine that NetBox means now.
  if (!isSameMachine(pass.observed.device, claims)) return wait(deps, device, "identity-changed", MOVED);
  const fault = identityFault(pass.observed.device, pass.observed.record, claims.uuid);
  if (fault !== null) return wait(deps, device, fault.code, fault.detail);
  const answer = admissionAnswer(pass.observed);
  if (answer.outcome === "wait") return wait(deps, device, protocolCode(answer.code), answer.text);
  if (answer.outcome === "install") return install(deps, c, pass.observed.device, claims, answer.run);
  const nowMs = world.clock.nowMs();
  await updateRecord(world, device, (r) => {
    const next = withHookosAgain(r, nowMs);
    return next.attention === null ? next : { ...next, attention: null };
  });
  deps.metrics.answer("confirm", "attested");
  return c.json({ outcome: "attested" });
}
