import type { SchemaError } from "../json-schema/schema-errors.js";
import { listSchemaErrors } from "../json-schema/schema-validator.js";
import type { ConfigSchema } from "./config-schema.js";
import { describeField, type Field, type Member } from "./field.js";
import { aboutKey, offer, type Reading } from "./reading.js";
import { readUnits, type UnitKind } from "./units.js";

/**
 * Checks a value against a schema and reports every mistake at its place. Returns the first keys of the paths where there are any: what stands
 * there cannot be used.
 */
export function checkStructure(reading: Reading, schema: ConfigSchema, root: Field): ReadonlySet<string> {
  const broken = new Set<string>();
  const reported = new Set<string>();
  for (const error of listErrors(reading, schema, root)) {
    broken.add(error.path[0] ?? error.property ?? "");
    // A text of the wrong form may be too long as well; one error is enough.
    const key = JSON.stringify([error.path, error.property]);
    if (!reported.has(key)) report(reading, error, root);
    reported.add(key);
  }
  return broken;
}

function listErrors(reading: Reading, schema: ConfigSchema, root: Field): readonly SchemaError[] {
  try {
    return listSchemaErrors(toValue(root), schema);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    reading.report(root, "has too many mistakes to list");
    return [];
  }
}

/** The field at a path of keys and indexes; undefined when there is none. */
export function fieldAt(root: Field, path: readonly string[]): Field | undefined {
  let field: Field | undefined = root;
  for (const key of path) {
    if (field?.kind === "map") field = memberOf(field, key)?.value;
    else field = field?.kind === "list" ? field.items[Number(key)] : undefined;
  }
  return field;
}

/** Turns a field into plain data. Numbers with a unit become numbers of the smallest one, as the schema says with `x-unit`. */
export function readValue(reading: Reading, schema: ConfigSchema | undefined, field: Field): unknown {
  switch (field.kind) {
    case "map": {
      const entries = field.members.map(({ key, value }) => [key, readValue(reading, schemaOf(schema, key), value)]);
      // Some names mean something else when they are assigned to.
      return Object.fromEntries(entries);
    }
    case "list":
      return field.items.map((item) => readValue(reading, schema?.items, item));
    case "scalar":
      return typeof field.value === "string" ? readText(reading, schema, field, field.value) : field.value;
    default:
      return null;
  }
}

function readText(reading: Reading, schema: ConfigSchema | undefined, field: Field, text: string): string | number {
  const unit = schema?.["x-unit"];
  if (schema === undefined || unit === undefined) return text;
  const number = readUnits(text, unit satisfies UnitKind);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (number !== null && number >= minimum && number <= maximum) return number;
  reading.report(field, `is ${describeField(field)}; ${schema.errorMessage}`);
  return 0;
}

function schemaOf({ properties = {}, additionalProperties: further }: ConfigSchema = {}, key: string) {
  if (Object.hasOwn(properties, key)) return properties[key];
  return typeof further === "object" ? further : undefined;
}

/** A value for the validator. A key without a value is none of what is allowed, and neither is a number that JSON does not have. */
function toValue(field: Field): unknown {
  switch (field.kind) {
    case "map":
      return Object.fromEntries(field.members.map(({ key, value }) => [key, toValue(value)]));
    case "list":
      return field.items.map(toValue);
    case "scalar":
      return typeof field.value === "number" && !Number.isFinite(field.value) ? null : field.value;
    default:
      return null;
  }
}

function report(reading: Reading, error: SchemaError, root: Field): void {
  const { keyword, path, property } = error;
  const schema = error.schema as ConfigSchema;
  const field = fieldAt(root, path);
  if (field === undefined) return;
  const member = property === null ? undefined : memberOf(field, property);
  if (keyword === "required") reading.report(field, `has no ${property}; add it`);
  else if (keyword === "additionalProperties" && member !== undefined) {
    const known = Object.keys(schema.properties ?? {});
    reading.report(aboutKey(member), () => `is not known here; ${offer(member.key, known)}`);
  } else if (member !== undefined) {
    reading.report(aboutKey(member), schema.propertyNames?.errorMessage ?? "is not allowed here");
  } else reading.report(field, () => describeMistake(keyword, schema, field));
}

function describeMistake(keyword: string, schema: ConfigSchema, field: Field): string {
  if (field.kind === "map" && keyword.endsWith("Properties")) {
    const { minProperties = 0, maxProperties } = schema;
    const what = field.path.slice(field.path.lastIndexOf(".") + 1);
    return `has ${field.members.length} ${what}; allowed: ${minProperties} to ${maxProperties}`;
  }
  const { errorMessage = allowedBy(schema), patternErrorMessage = errorMessage } = schema;
  const message =
    keyword === "not"
      ? (schema.not?.errorMessage ?? errorMessage)
      : keyword === "pattern"
        ? patternErrorMessage
        : errorMessage;
  if (!message.startsWith("allowed: ")) return message;
  const subject = field.path === "" ? "the configuration " : "";
  return `${subject}is ${describeField(field)}; ${message}${isUnquoted(keyword, schema, field) ? "; put it in quotes" : ""}`;
}

/** What a mapping allows is what it has keys for. */
function allowedBy({ properties = {} }: ConfigSchema): string {
  return `allowed: a mapping with ${Object.keys(properties).join(", ")}`;
}

/** Whether a text was meant, and YAML took it for a number or for true. */
function isUnquoted(keyword: string, { type }: ConfigSchema, field: Field): boolean {
  return (
    keyword === "type" && type === "string" && field.kind === "scalar" && field.written !== null && field.value !== null
  );
}

/** The members of mappings by key: a hostile file has tens of thousands of mistakes in one mapping. */
const membersByKey = new WeakMap<Field, ReadonlyMap<string, Member>>();

function memberOf(field: Field, key: string): Member | undefined {
  if (field.kind !== "map") return undefined;
  const known = membersByKey.get(field) ?? new Map(field.members.map((member) => [member.key, member]));
  membersByKey.set(field, known);
  return known.get(key);
}
