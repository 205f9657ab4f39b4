import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { policyFault } from "../../../functions/policy-fault.ts";
import { createBootPlane } from "../../../shared/adapters/kubernetes/tinkerbell-boot-plane.ts";
import { type ClassTable, classInputsSchema, classTableSchema, resolvePin } from "../../../shared/fleet/class.ts";
import type { PolicyTexts } from "../../../shared/ports/policy.ts";
import type { Settings } from "../../../shared/runtime/config.ts";
import { openPolicy } from "../../../shared/runtime/wire.ts";
import { type Check, failed, looked, ok, warning } from "./check.ts";

/** Templates that every class uses beside its own of a provision. */
const SHARED_TEMPLATES = ["attest", "wipe", "retire"];

/** The files that git owns, as the start reads them: classes, profiles, what an install needs; and what they name elsewhere. */
export async function checkPolicyFiles(settings: Settings): Promise<Check[]> {
  const spire = looked(
    "spire list",
    "let fleetd's account write there, or name another FLEET_SPIRE_NODES_FILE",
    async () => {
      await access(dirname(settings.FLEET_SPIRE_NODES_FILE), constants.W_OK);
      return ok("spire list", `goes to ${settings.FLEET_SPIRE_NODES_FILE}`);
    },
  );
  let texts: PolicyTexts;
  try {
    texts = await openPolicy(settings, policyFault).current();
  } catch (error) {
    const words = error instanceof Error ? error.message : "cannot be read";
    return [failed("policy files", words, "mend the file: fleetd does not start with it"), ...(await spire)];
  }
  const classes = classTableSchema.parse(texts.classes);
  const names = Object.keys(classes);
  return [
    ok("policy files", `classes ${names.join(", ")}; profiles ${Object.keys(texts.profiles).join(", ")}`),
    ...installChecks(classes, texts),
    ...(await templateChecks(classes, settings)),
    ...(await spire),
  ];
}

function installChecks(classes: ClassTable, texts: PolicyTexts): Check[] {
  const inputs = texts.classInputs === null ? null : classInputsSchema.parse(texts.classInputs);
  return Object.entries(classes).flatMap(([name, cls]) => {
    if (cls.payload === "none" || cls.attestation === "unsupported") return [];
    const noPin = resolvePin(cls, inputs) === null;
    const noSecrets = cls.payload === "talos" && texts.talosSecrets === null;
    return [
      ...(noPin
        ? [
            warning(
              `class ${name}`,
              "no complete pin: no install of it begins",
              "say what to write: infra/docs/classes.md",
            ),
          ]
        : []),
      ...(noSecrets
        ? [
            warning(
              `class ${name}`,
              "no configuration can be rendered",
              "FLEET_TALOS_SECRETS_FILE: talosctl gen secrets",
            ),
          ]
        : []),
    ];
  });
}

async function templateChecks(classes: ClassTable, settings: Settings): Promise<Check[]> {
  const { FLEET_TINKERBELL_KUBECONFIG: kubeconfigFile, FLEET_TINKERBELL_NAMESPACE: namespace } = settings;
  const todo = "kubectl apply -f infra/tinkerbell/templates, or your own of that name";
  const port = createBootPlane({ kubeconfigFile, namespace, timeoutMs: settings.FLEET_CALL_TIMEOUT_MS });
  const wanted = [...new Set([...Object.values(classes).map((cls) => cls.template), ...SHARED_TEMPLATES])].sort();
  try {
    const found = await Promise.all(
      wanted.map(async (name) => ({ name, there: (await port.template(name)) !== null })),
    );
    const missing = found.filter(({ there }) => !there).map(({ name }) => name);
    return missing.length === 0
      ? [ok("templates", `${wanted.join(", ")} are there`)]
      : [failed("templates", `Tinkerbell has no ${missing.join(", ")}: such a Workflow is never rendered`, todo)];
  } catch {
    // Why Tinkerbell does not answer is told by the lines about it.
    return [];
  }
}
