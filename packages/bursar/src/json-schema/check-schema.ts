import { InputError, show } from "../core/errors.js";
import type { CheckedSchema, JsonSchema, JsonSchemaDraft } from "./json-schema.js";

const MAX_DEPTH = 100;
const MAX_NODES = 50_000;
/** Validation of a schema of this size without costly keywords needs no time limit. */
const SMALL_SCHEMA_NODES = 500;

const TYPES: readonly string[] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** Keywords by the kind of value that they take. What is not listed is ignored by the validator. */
const KEYWORDS_BY_KIND: Readonly<Record<keyof typeof KEYWORD_READERS, readonly string[]>> = {
  schema: [
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
  ],
  schemaOrSchemas: ["items"],
  schemas: ["allOf", "anyOf", "oneOf", "prefixItems"],
  schemaMap: ["$defs", "definitions", "dependentSchemas"],
  patternMap: ["patternProperties"],
  propertyMap: ["properties"],
  type: ["type"],
  list: ["enum"],
  names: ["required"],
  pattern: ["pattern"],
  reference: ["$ref", "$dynamicRef", "$recursiveRef"],
  flag: ["uniqueItems"],
  number: ["minimum", "maximum"],
  factor: ["multipleOf"],
  count: [
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
  ],
};

/** Keywords that can make validation expensive. */
const COSTLY_KEYWORDS: ReadonlySet<string> = new Set([
  "pattern",
  "patternProperties",
  "uniqueItems",
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
]);

/** `format` is an annotation and is not validated. Names of the second form are internal to the validator. */
const OMITTED_KEYWORD = /^(?:format|__absolute_\w+)$/;

type Copy = Record<string, unknown>;

/** A keyword whose value is being read. */
interface KeywordValue {
  readonly value: unknown;
  /** The path of the schema that has the keyword. */
  readonly schemaPath: string;
  /** The path of the keyword. */
  readonly path: string;
  readonly depth: number;
}

/** Reads the value of a keyword, and returns the copy of it. */
const KEYWORD_READERS = {
  schema: (check: SchemaCheck, { value, path, depth }: KeywordValue) => check.copySchema(value, path, depth),
  schemas: (check: SchemaCheck, { value, path, depth }: KeywordValue) => {
    if (!Array.isArray(value) || value.length === 0) throw refuse(path, value, "a list of one schema or more");
    return value.map((each, index) => check.copySchema(each, `${path}[${index}]`, depth));
  },
  schemaOrSchemas: (check: SchemaCheck, keyword: KeywordValue): unknown => {
    const { value, path, depth } = keyword;
    if (!Array.isArray(value)) return check.copySchema(value, path, depth);
    return value.map((each, index) => check.copySchema(each, `${path}[${index}]`, depth));
  },
  schemaMap: (check: SchemaCheck, { value, path, depth }: KeywordValue) => check.copyMap(value, path, path, depth),
  /** A property is known by its own name: `tool.input.to`. */
  propertyMap: (check: SchemaCheck, { value, path, schemaPath, depth }: KeywordValue) =>
    check.copyMap(value, path, schemaPath, depth),
  patternMap: (check: SchemaCheck, { value, path, depth }: KeywordValue) => {
    const copy = check.copyMap(value, path, path, depth);
    for (const pattern of Object.keys(copy)) checkPattern(pattern, path);
    return copy;
  },
  type: (_: SchemaCheck, { value, path }: KeywordValue) => {
    const types: unknown = Array.isArray(value) ? value : [value];
    const isKnown = Array.isArray(types) && types.length > 0 && types.every((each) => TYPES.includes(String(each)));
    if (!isKnown) throw refuse(path, value, `${TYPES.join(", ")}, or several of them`);
    return value;
  },
  list: (check: SchemaCheck, { value, path, depth }: KeywordValue) => {
    if (!Array.isArray(value) || value.length === 0) throw refuse(path, value, "a list of one value or more");
    return check.copyValue(value, path, depth);
  },
  names: (_: SchemaCheck, { value, path }: KeywordValue) => {
    const areNames = Array.isArray(value) && value.every((each) => typeof each === "string");
    if (!areNames) throw refuse(path, value, "a list of names");
    return [...value];
  },
  pattern: (_: SchemaCheck, { value, path }: KeywordValue) => checkPattern(value, path),
  reference: (check: SchemaCheck, { value, path }: KeywordValue) => {
    if (typeof value !== "string") throw refuse(path, value, "a reference such as #/$defs/name");
    check.references.push({ value, path });
    return value;
  },
  flag: (_: SchemaCheck, { value, path }: KeywordValue) => {
    if (typeof value !== "boolean") throw refuse(path, value, "true or false");
    return value;
  },
  number: (_: SchemaCheck, { value, path }: KeywordValue) => {
    if (!Number.isFinite(value)) throw refuse(path, value, "a number");
    return value;
  },
  factor: (_: SchemaCheck, { value, path }: KeywordValue) => {
    if (typeof value !== "number" || !(value > 0)) throw refuse(path, value, "a number above 0");
    return value;
  },
  count: (_: SchemaCheck, { value, path }: KeywordValue) => {
    if (typeof value !== "number" || !(value >= 0)) throw refuse(path, value, "a number from 0");
    return value;
  },
} as const;

const KEYWORD_KINDS: ReadonlyMap<string, keyof typeof KEYWORD_READERS> = new Map(
  Object.entries(KEYWORDS_BY_KIND).flatMap(([kind, keywords]) =>
    keywords.map((keyword) => [keyword, kind as keyof typeof KEYWORD_READERS]),
  ),
);

/**
 * Copies a schema and checks that it means something: a misspelled type or a reference to nothing would otherwise refuse every call, or none,
 * long after the tool was defined.
 *
 * @throws {InputError} that names the keyword and says what is allowed.
 */
export function checkJsonSchema(schema: JsonSchema, field: string): CheckedSchema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new InputError(field, `is ${show(schema)}; allowed: a JSON Schema, or a schema of Zod, Valibot or ArkType`);
  }
  return new SchemaCheck(field).check(schema);
}

class SchemaCheck {
  readonly references: { readonly value: string; readonly path: string }[] = [];
  private readonly field: string;
  private readonly anchors = new Set<string>();
  private hasNestedIds = false;
  private isCostly = false;
  private nodes = 0;

  constructor(field: string) {
    this.field = field;
  }

  check(given: JsonSchema): CheckedSchema {
    const schema = this.copySchema(given, this.field, 0) as Copy;
    // The validator resolves references between embedded resources; all others are resolved here, so that the error names the keyword.
    if (!this.hasNestedIds) for (const reference of this.references) this.checkReference(reference, schema);
    const needsTimeLimit = this.isCostly || this.nodes > SMALL_SCHEMA_NODES;
    return { schema, draft: draftOf(schema.$schema), needsTimeLimit };
  }

  copySchema(schema: unknown, path: string, depth: number): unknown {
    this.count(path, depth);
    if (typeof schema === "boolean") return schema;
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
      throw refuse(path, schema, "a schema: an object, true or false");
    }
    const copy: [string, unknown][] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      if (value === undefined || OMITTED_KEYWORD.test(keyword)) continue;
      this.noteKeyword(keyword, value, depth);
      copy.push([
        keyword,
        this.copyKeyword(keyword, { value, schemaPath: path, path: `${path}.${keyword}`, depth: depth + 1 }),
      ]);
    }
    return withStaticReferences(copy);
  }

  copyMap(map: unknown, path: string, memberPath: string, depth: number): Copy {
    if (typeof map !== "object" || map === null || Array.isArray(map)) throw refuse(path, map, "an object of schemas");
    // `fromEntries` defines members, so that one named `__proto__` is a member like any other.
    return Object.fromEntries(
      Object.entries(map).map(([name, each]) => [name, this.copySchema(each, `${memberPath}.${name}`, depth)]),
    );
  }

  /** Copies a value that is not a schema. */
  copyValue(value: unknown, path: string, depth: number): unknown {
    this.count(path, depth);
    if (Array.isArray(value)) return value.map((each) => this.copyValue(each, path, depth + 1));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, this.copyValue(each, path, depth + 1)]),
    );
  }

  private copyKeyword(keyword: string, value: KeywordValue): unknown {
    const kind = KEYWORD_KINDS.get(keyword);
    return kind === undefined
      ? this.copyValue(value.value, value.path, value.depth)
      : KEYWORD_READERS[kind](this, value);
  }

  private noteKeyword(keyword: string, value: unknown, depth: number): void {
    if (COSTLY_KEYWORDS.has(keyword)) this.isCostly = true;
    if ((keyword === "$id" || keyword === "id") && depth > 0 && typeof value === "string") this.hasNestedIds = true;
    if ((keyword === "$anchor" || keyword === "$dynamicAnchor") && typeof value === "string") this.anchors.add(value);
  }

  private checkReference({ value, path }: { value: string; path: string }, schema: Copy): void {
    const base = typeof schema.$id === "string" ? schema.$id.replace(/#$/, "") : "";
    const local = base !== "" && value.startsWith(base) ? value.slice(base.length) : value;
    if (local === "" || local === "#") return;
    if (!local.startsWith("#")) {
      throw new InputError(path, `is ${show(value)}, which is another document; put what it refers to into $defs`);
    }
    const resolves = local.startsWith("#/") ? hasPointer(schema, local) : this.anchors.has(local.slice(1));
    if (!resolves)
      throw new InputError(path, `is ${show(value)}, which is not in the schema; add it, or mend the reference`);
  }

  private count(path: string, depth: number): void {
    this.nodes++;
    const limit = depth > MAX_DEPTH ? `${MAX_DEPTH} levels` : this.nodes > MAX_NODES ? `${MAX_NODES} values` : null;
    if (limit === null) return;
    const where = path.length > 200 ? this.field : path;
    throw new InputError(where, `is too large; allowed: a JSON Schema of at most ${limit}`);
  }
}

/**
 * Writes dynamic references as the static ones that they start from. The validator does not support them; the difference shows only where one
 * schema extends a recursive one of another document, and other documents are not read.
 */
function withStaticReferences(entries: readonly [string, unknown][]): Copy {
  const copy: Copy = Object.fromEntries(entries);
  const { $dynamicRef, $dynamicAnchor, ...rest } = copy;
  if ($dynamicRef === undefined && $dynamicAnchor === undefined) return copy;
  if ($dynamicAnchor !== undefined && rest.$anchor === undefined) rest.$anchor = $dynamicAnchor;
  if ($dynamicRef === undefined) return rest;
  if (rest.$ref === undefined) return { ...rest, $ref: $dynamicRef };
  return { ...rest, allOf: [...((rest.allOf as unknown[] | undefined) ?? []), { $ref: $dynamicRef }] };
}

function checkPattern(pattern: unknown, path: string): string {
  if (typeof pattern !== "string") throw refuse(path, pattern, "a regular expression");
  try {
    new RegExp(pattern, "u");
    return pattern;
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : "";
    throw new InputError(path, `is no regular expression with the flag u: ${why}`);
  }
}

function hasPointer(schema: Copy, pointer: string): boolean {
  let found: unknown = schema;
  for (const part of pointer.slice(2).split("/")) {
    const name = decodePointerPart(part);
    if (typeof found !== "object" || found === null || name === null || !Object.hasOwn(found, name)) return false;
    found = (found as Copy)[name];
  }
  return true;
}

function decodePointerPart(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return null;
  }
}

function draftOf(dialect: unknown): JsonSchemaDraft {
  const text = typeof dialect === "string" ? dialect : "";
  if (/draft-0[34]\b/.test(text)) return "4";
  if (/draft-0[67]\b/.test(text)) return "7";
  return text.includes("2019-09") ? "2019-09" : "2020-12";
}

function refuse(path: string, value: unknown, allowed: string): InputError {
  return new InputError(path, `is ${show(value)}; allowed: ${allowed}`);
}
