import { InputError, show } from "../core/errors.js";

/** The part of JSON Schema that says what a tool takes. A word that is not known here is refused, not passed over. */
export interface Schema {
  readonly type?: SchemaType | readonly SchemaType[];
  readonly description?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Schema[];
}

type SchemaType = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";

const KEYS = new Set([
  "type",
  "description",
  "title",
  "default",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "anyOf",
]);
const TYPES: readonly string[] = ["object", "array", "string", "number", "integer", "boolean", "null"];
const NUMBERS = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"] as const;
const DEEPEST = 32;

/** Refuses a schema that says something which would not be looked at. */
export function checkSchema(schema: Schema, field: string, depth = 0): void {
  if (typeof schema !== "object" || schema === null || depth > DEEPEST) {
    throw new InputError(field, `is ${show(schema)}; allowed: a JSON Schema, at most ${DEEPEST} deep`);
  }
  for (const key of Object.keys(schema)) {
    if (!KEYS.has(key)) throw new InputError(`${field}.${key}`, `is not known here; allowed: ${[...KEYS].join(", ")}`);
  }
  checkWords(schema, field);
  for (const [name, each] of Object.entries(schema.properties ?? {})) checkSchema(each, `${field}.${name}`, depth + 1);
  if (schema.items !== undefined) checkSchema(schema.items, `${field}.items`, depth + 1);
  if (typeof schema.additionalProperties === "object") {
    checkSchema(schema.additionalProperties, `${field}.additionalProperties`, depth + 1);
  }
  for (const each of schema.anyOf ?? []) checkSchema(each, `${field}.anyOf`, depth + 1);
}

/** A word with a value that means nothing would refuse everything, or nothing. */
function checkWords(schema: Schema, field: string): void {
  const refuse = (name: keyof Schema, allowed: string): never => {
    throw new InputError(`${field}.${name}`, `is ${show(schema[name])}; allowed: ${allowed}`);
  };
  const { type, anyOf, enum: values, required, properties, additionalProperties: further } = schema;
  const types: unknown = typeof type === "string" ? [type] : type;
  if (type !== undefined && !isFilledArray(types, (each) => TYPES.includes(String(each)))) {
    refuse("type", `${TYPES.join(", ")}, or several of them`);
  }
  if (anyOf !== undefined && !isFilledArray(anyOf)) refuse("anyOf", "an array of one schema or more");
  if (values !== undefined && !isFilledArray(values)) refuse("enum", "an array of one value or more");
  if (required !== undefined && !(Array.isArray(required) && required.every((each) => typeof each === "string"))) {
    refuse("required", "an array of names");
  }
  if (properties !== undefined && !isOf(properties, "object")) refuse("properties", "an object of schemas");
  if (further !== undefined && typeof further !== "boolean" && !isOf(further, "object")) {
    refuse("additionalProperties", "true, false or a schema");
  }
  for (const name of NUMBERS) {
    if (schema[name] !== undefined && !Number.isFinite(schema[name])) refuse(name, "a number");
  }
}

function isFilledArray(value: unknown, fits: (each: unknown) => boolean = () => true): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(fits);
}

/** What is wrong with a value, and where; null when nothing is. */
export function mismatch(value: unknown, schema: Schema, at = "input"): string | null {
  if (schema.type !== undefined) {
    const types = typeof schema.type === "string" ? [schema.type] : schema.type;
    if (!types.some((type) => isOf(value, type))) return `${at} is ${show(value)}; allowed: ${types.join(" or ")}`;
  }
  if (schema.const !== undefined && !equal(value, schema.const)) return `${at} must be ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined && !schema.enum.some((each) => equal(value, each))) {
    return `${at} is ${show(value)}; allowed: ${schema.enum.map((each) => JSON.stringify(each)).join(", ")}`;
  }
  if (schema.anyOf?.every((each) => mismatch(value, each, at) !== null)) {
    return `${at} is none of what is allowed: ${mismatch(value, schema.anyOf[0] as Schema, at)}`;
  }
  if (typeof value === "number") return outside(value, schema.minimum, schema.maximum, at, "");
  if (typeof value === "string")
    return outside(value.length, schema.minLength, schema.maxLength, at, " characters long");
  if (Array.isArray(value)) return arrayMismatch(value, schema, at);
  if (typeof value === "object" && value !== null) return objectMismatch(value, schema, at);
  return null;
}

function arrayMismatch(value: readonly unknown[], schema: Schema, at: string): string | null {
  const size = outside(value.length, schema.minItems, schema.maxItems, at, " items long");
  if (size !== null || schema.items === undefined) return size;
  for (const [index, each] of value.entries()) {
    const problem = mismatch(each, schema.items, `${at}[${index}]`);
    if (problem !== null) return problem;
  }
  return null;
}

function objectMismatch(
  value: object,
  { properties = {}, required = [], additionalProperties = true }: Schema,
  at: string,
) {
  for (const name of required) if (!Object.hasOwn(value, name)) return `${at}.${name} is missing`;
  for (const [name, each] of Object.entries(value)) {
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (known === false) return `${at}.${name} is not known; allowed: ${Object.keys(properties).join(", ")}`;
    const problem = typeof known === "object" ? mismatch(each, known, `${at}.${name}`) : null;
    if (problem !== null) return problem;
  }
  return null;
}

function isOf(value: unknown, type: SchemaType): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function outside(
  size: number,
  least: number | undefined,
  most: number | undefined,
  at: string,
  what: string,
): string | null {
  if (least !== undefined && size < least) return `${at} is ${size}${what}; allowed: at least ${least}`;
  if (most !== undefined && size > most) return `${at} is ${size}${what}; allowed: at most ${most}`;
  return null;
}

function equal(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
