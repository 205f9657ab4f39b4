import type { FieldRow, SetRow, SetupState } from "./setup-state.ts";
import { idOf, type SetupPlanner } from "./setup-step.ts";
import { WANTED_FIELDS, type WantedChoices, type WantedField } from "./wanted-fields.ts";

/** Custom fields and their choices: made where they are not there, opened to devices, never changed in their nature. */
export function planFields(plan: SetupPlanner, { fields, sets }: Pick<SetupState, "fields" | "sets">): void {
  for (const wanted of WANTED_FIELDS) {
    const field = fields.find((one) => one.name === wanted.name);
    if (wanted.choices !== undefined) planChoices(plan, wanted.choices, field, sets);
    if (field === undefined) create(plan, wanted);
    else judge(plan, wanted, field);
  }
}

function create(plan: SetupPlanner, wanted: WantedField): void {
  const { name, types, of, description, choices } = wanted;
  const from = choices === undefined ? [] : [`choices: ${choices.values.map(([value]) => value).join(", ")}`];
  plan.create("custom field", name, [`${types[0]}, of ${of}`, ...from], (ids) => ({
    name,
    label: "",
    type: types[0],
    object_types: [of],
    group_name: "fleetd",
    description,
    filter_logic: "exact",
    ...(choices !== undefined && { choice_set: idOf(ids, "choice set", choices.set) }),
  }));
}

/** Why a field is not one that fleetd can work with; empty where it is. @see spec/00-overview.md "NetBox" */
export function fieldFaults(
  wanted: WantedField,
  field: Omit<FieldRow, "id" | "choice_set" | "object_types">,
): string[] {
  const faults: string[] = [];
  const { name, types, written, last } = wanted;
  if (!types.includes(field.type ?? ""))
    faults.push(
      `custom field ${name} is of type ${field.type}, and fleetd needs ${types.join(" or ")}: it is another's, or of another time; rename or remove it`,
    );
  if (last && field.required)
    faults.push(
      `custom field ${name} is required, and a new device gets it last, when its cable and address are there: make it optional (fleetd leaves a device without it alone)`,
    );
  if (last && hasDefault(field))
    faults.push(
      `custom field ${name} has a default, by which fleetd would begin with a new device before its cable is there: take it away`,
    );
  if (!written) return faults;
  if (field.required) faults.push(`custom field ${name} is required, and fleetd must be able to leave it empty`);
  if (field.unique === true) faults.push(`custom field ${name} is unique, and devices share its values`);
  if (hasDefault(field)) faults.push(`custom field ${name} has a default, which would fill it by itself: take it away`);
  return faults;
}

function hasDefault({ default: value }: { readonly default?: unknown }): boolean {
  return value !== null && value !== undefined;
}

function judge(plan: SetupPlanner, wanted: WantedField, field: FieldRow): void {
  plan.ids.set(`custom field ${field.name}`, field.id);
  plan.refused.push(...fieldFaults(wanted, field));
  if (field.object_types.includes(wanted.of)) return;
  const value = [...field.object_types, wanted.of];
  plan.change("custom field", field.name, field.id, [
    { key: "object_types", value, text: `of ${wanted.of} too, besides ${field.object_types.join(", ")}` },
  ]);
}

function planChoices(
  plan: SetupPlanner,
  { set: name, values }: WantedChoices,
  field: FieldRow | undefined,
  sets: readonly SetRow[],
): void {
  if (field !== undefined && field.type !== "select") return;
  const set = sets.find((one) => (field === undefined ? one.name === name : one.id === field.choice_set?.id));
  if (set === undefined) {
    const words = values.map(([value]) => value).join(", ");
    plan.create("choice set", name, [words], () => ({ name, extra_choices: values }));
    return;
  }
  plan.ids.set(`choice set ${set.name}`, set.id);
  const has = set.extra_choices ?? [];
  const missing = values.filter(([value]) => !has.some(([one]) => one === value));
  if (missing.length === 0) return;
  const text = missing.map(([value]) => value).join(", ");
  if (set.name !== name)
    plan.refused.push(`choice set ${set.name}, of custom field ${field?.name}, lacks ${text}: add what is missing`);
  else
    plan.change("choice set", name, set.id, [
      { key: "extra_choices", value: [...has, ...missing], text: `also ${text}` },
    ]);
}
