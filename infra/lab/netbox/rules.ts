import { boundsOf, stored } from "./addresses.ts";
import type { ChoiceSet } from "./choices.ts";
import type { Row, TableName, World } from "./world.ts";

export type Fault = { readonly fault: unknown };
/** Turns one written field into its stored value, or says what NetBox would say. */
export type Rule = (world: World, value: unknown) => { readonly value: unknown } | Fault;

const blank = { fault: ["This field may not be blank."] };

export function text(max: number, required = false): Rule {
  return (_world, value) => {
    if (value === null && !required) return { value: null };
    if (typeof value !== "string") return { fault: ["Not a valid string."] };
    if (value.includes("\0")) return { fault: ["Null characters are not allowed."] };
    if (required && value.trim() === "") return blank;
    const kept = value.trim();
    return kept.length > max ? { fault: [`Ensure this field has no more than ${max} characters.`] } : { value: kept };
  };
}
export const bool: Rule = (_world, value) =>
  typeof value === "boolean" ? { value } : { fault: ["Must be a valid boolean."] };
export const anything: Rule = (_world, value) => ({ value });
export function oneOf(set: ChoiceSet): Rule {
  return (_world, value) => {
    if (typeof value === "object" && value !== null) {
      return { fault: ['Value must be passed directly (e.g. "foo": 123); do not use a dictionary or list.'] };
    }
    return typeof value === "string" && value in set ? { value } : { fault: [`${value} is not a valid choice.`] };
  };
}
/** A relation by id or by attributes such as `{"slug": …}`. */
export function relation(table: TableName, nullable = true): Rule {
  return (world, value) => {
    if (value === null) return nullable ? { value: null } : { fault: ["This field may not be null."] };
    if (typeof value === "number") {
      return world.tables[table].has(value)
        ? { value }
        : { fault: [`Related object not found using the provided numeric ID: ${value}`] };
    }
    if (typeof value !== "object")
      return { fault: ["Related objects must be referenced by numeric ID or by dictionary of attributes."] };
    const wanted = Object.entries(value);
    const found = [...world.tables[table].values()].filter((row) => wanted.every(([key, each]) => row[key] === each));
    const shown = `{${wanted.map(([key, each]) => `'${key}': '${each}'`).join(", ")}}`;
    if (found.length > 1) return { fault: [`Multiple objects match the provided attributes: ${shown}`] };
    return found[0] === undefined
      ? { fault: [`Related object not found using the provided attributes: ${shown}`] }
      : { value: found[0].id };
  };
}
export const macAddress: Rule = (_world, value) => {
  const digits = String(value).replace(/[:.-]/g, "");
  return /^[0-9a-f]{12}$/i.test(digits)
    ? { value: (digits.toUpperCase().match(/../g) ?? []).join(":") }
    : { fault: [`Invalid MAC address format: ${value}`] };
};
export const address: Rule = (_world, value) => {
  const known = typeof value === "string" ? stored(value) : null;
  return known === null ? { fault: [`Invalid IP address format: ${value}`] } : { value: known };
};
/** A network's own address with its length: none of a host in it. */
export const network: Rule = (world, value) => {
  const read = address(world, value);
  if ("fault" in read) return read;
  const [base, length] = String(read.value).split("/");
  const { first } = boundsOf(String(read.value));
  return first === base ? read : { fault: [`${read.value} is not a valid prefix. Did you mean ${first}/${length}?`] };
};
export const termination: Rule = (world, value) => {
  const end = Array.isArray(value) ? value[0] : undefined;
  const id = typeof end === "object" && end !== null && "object_id" in end ? Number(end.object_id) : Number.NaN;
  const row = world.tables.interfaces.get(id);
  if (row === undefined) return { fault: ["This field is required."] };
  return row.cable === null
    ? { value: id }
    : { fault: [`Duplicate termination found for dcim.interface ${id}: cable ${row.cable}`] };
};

export interface Model {
  readonly table: TableName;
  /** `app.model` as in object_type. */
  readonly type: string;
  readonly verbose: string;
  readonly rules: Readonly<Record<string, Rule>>;
  readonly required: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
  /** What NetBox makes by itself at creation. */
  readonly made?: () => Readonly<Record<string, unknown>>;
  /** Body names that are stored under another name. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Faults over the whole row, as `full_clean` finds them. */
  readonly check?: (
    world: World,
    row: Row | (Record<string, unknown> & { id?: number }),
  ) => Record<string, unknown> | null;
}
