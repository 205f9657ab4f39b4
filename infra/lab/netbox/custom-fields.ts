import { minor, type Row, type World } from "./world.ts";

/** The custom fields that are defined for a type of objects. */
export function fieldsOf(world: World, type: string): Row[] {
  const isOf = ({ object_types: types }: Row) => Array.isArray(types) && types.includes(type);
  return [...world.tables["custom-fields"].values()].filter(isOf);
}

/** An object's custom fields as they are read: every defined one, selections as {value,label} from 4.7 on. */
export function fieldsRead(world: World, type: string, row: Row): Record<string, unknown> {
  const stored = asRecord(row.custom_fields);
  const names = fieldsOf(world, type).sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
  return Object.fromEntries(
    names.map((field) => {
      const value = stored[String(field.name)] ?? null;
      const asObject = field.type === "select" && value !== null && minor(world) >= 7;
      return [
        field.name,
        asObject ? { value, label: value === "" ? "" : labelOf(world, field, String(value)) } : value,
      ];
    }),
  );
}

/** Merges a written `custom_fields` into the stored ones. Faults have NetBox's own form. */
export function fieldsWritten(
  world: World,
  type: string,
  stored: unknown,
  written: unknown,
): { readonly value: Record<string, unknown> } | { readonly fault: Record<string, unknown> } {
  if (written === null) return { fault: { custom_fields: ["This field may not be null."] } };
  const merged = { ...asRecord(stored) };
  for (const [name, value] of Object.entries(asRecord(written))) {
    const field = fieldsOf(world, type).find((each) => each.name === name);
    if (field === undefined) {
      return { fault: { custom_fields: { [name]: `Custom field '${name}' does not exist for this object type.` } } };
    }
    const fault = value === null ? null : faultOf(world, field, value);
    if (fault !== null) return { fault: { __all__: [`Invalid value for custom field '${name}': ${fault}`] } };
    merged[name] = field.type === "datetime" && typeof value === "string" ? sixDigits(value) : value;
  }
  return { value: merged };
}

function faultOf(world: World, field: Row, value: unknown): string | null {
  switch (field.type) {
    case "text":
    case "longtext": {
      if (typeof value !== "string") return "Value must be a string.";
      const pattern = String(field.validation_regex ?? "");
      return pattern !== "" && !new RegExp(pattern).test(value) ? `Value must match regex '${pattern}'` : null;
    }
    case "integer":
      return Number.isInteger(value) ? null : "Value must be an integer.";
    case "boolean":
      return typeof value === "boolean" ? null : "Value must be true or false.";
    case "datetime":
      return typeof value === "string" && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value)
        ? null
        : "Date and time values must be in ISO 8601 format (YYYY-MM-DD HH:MM:SS).";
    case "select": {
      if (value === "" || (typeof value === "string" && choicesOf(world, field).has(value))) return null;
      const shown = typeof value === "string" ? value : JSON.stringify(value);
      const set = world.tables["custom-field-choice-sets"].get(Number(field.choice_set));
      return `Invalid choice (${shown}) for choice set ${set?.name}.`;
    }
    default:
      return null;
  }
}

/** A fraction of a second is kept with six digits (vectors/netbox/write.json, "datetime with an offset"). */
function sixDigits(text: string): string {
  return text.replace(/\.(\d{1,6})\d*/, (_all, digits: string) => `.${digits.padEnd(6, "0")}`);
}

function choicesOf(world: World, field: Row): Map<string, string> {
  const set = world.tables["custom-field-choice-sets"].get(Number(field.choice_set));
  return new Map(Array.isArray(set?.extra_choices) ? (set.extra_choices as [string, string][]) : []);
}

function labelOf(world: World, field: Row, value: string): string {
  return choicesOf(world, field).get(value) ?? value;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
