import { classInputsSchema, classTableSchema } from "../fleet/class.ts";
import type { PolicyTexts } from "../ports/policy.ts";

/** What is wrong with FLEET_CLASSES or FLEET_CLASS_INPUTS, with the place; null where both can be used. */
export function classesFault(texts: PolicyTexts): string | null {
  const classes = classTableSchema.safeParse(texts.classes);
  if (!classes.success) {
    const issue = classes.error.issues[0];
    return `FLEET_CLASSES: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`;
  }
  if (texts.classInputs !== null && !classInputsSchema.safeParse(texts.classInputs).success)
    return "FLEET_CLASS_INPUTS: does not validate";
  const missing = Object.entries(classes.data).find(
    ([, cls]) => cls.profile !== null && !Object.hasOwn(texts.profiles, cls.profile),
  );
  return missing === undefined
    ? null
    : `FLEET_CLASSES: ${missing[0]}.profile: FLEET_PROFILES has no profile ${missing[1].profile}`;
}
