import type { OutputUnit } from "@cfworker/json-schema";
import { show } from "../core/errors.js";
import { nearest } from "../core/nearest.js";

/** What a message is made of, besides the errors. */
interface MismatchContext {
  readonly value: unknown;
  /** What the value as a whole is called. */
  readonly name: string;
  /** The schema or keyword at a location that the validator reports. */
  readonly schemaAt: (location: string) => unknown;
}

/** Keywords whose error is followed by the errors of the schema in them, which say more. */
export const CONTAINERS: ReadonlySet<string> = new Set([
  "$ref",
  "$recursiveRef",
  "additionalItems",
  "additionalProperties",
  "allOf",
  "dependencies",
  "dependentSchemas",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

const MAX_LISTED = 24;

/** Describes the first error in words: where it is, what is there, and what is allowed. */
export function explainMismatch(errors: readonly OutputUnit[], context: MismatchContext): string {
  const index = indexOfCause(errors);
  const error = errors[index];
  if (error === undefined) return `${context.name} does not fit its schema`;
  const { path, value } = lookUp(error.instanceLocation, context);
  const limit = context.schemaAt(error.keywordLocation);
  const explain = Object.hasOwn(EXPLANATIONS, error.keyword) ? EXPLANATIONS[error.keyword] : undefined;
  const explained = explain?.({ errors, index, error, path, value, limit, context });
  // The library's own words do for what is rare.
  return explained ?? `${path} does not fit its schema (${error.keyword}): ${error.error}`;
}

/** One error with what it is about. */
interface Mismatch {
  readonly errors: readonly OutputUnit[];
  readonly index: number;
  readonly error: OutputUnit;
  readonly path: string;
  readonly value: unknown;
  /** What the keyword says. */
  readonly limit: unknown;
  readonly context: MismatchContext;
}

const EXPLANATIONS: Readonly<Record<string, (mismatch: Mismatch) => string | null>> = {
  type: ({ path, value, limit }) => `${path} is ${show(value)}; allowed: ${listOf(limit).join(" or ")}`,
  const: ({ path, limit }) => `${path} must be ${JSON.stringify(limit)}`,
  enum: ({ path, value, limit }) => `${path} is ${show(value)}; allowed: ${shorten(listOf(limit).map(toJson))}`,
  required: ({ path, value, limit }) => {
    const missing = listOf(limit).find((name) => !Object.hasOwn(Object(value), String(name)));
    return `${path}.${missing} is missing`;
  },
  false: explainUnknown,
  anyOf: (mismatch) => `${mismatch.path} is none of what is allowed: ${explainBranches(mismatch)}`,
  oneOf: (mismatch) => {
    const matches = /\((\d+) matches\)/.exec(mismatch.error.error)?.[1];
    if (matches === "0") return `${mismatch.path} is none of what is allowed: ${explainBranches(mismatch)}`;
    return `${mismatch.path} fits ${matches} of the alternatives; allowed: exactly one`;
  },
  not: ({ path, value }) => `${path} is ${show(value)}, which its schema excludes`,
  propertyNames: ({ errors, index, path, context }) => {
    const inner = errors[index + 1];
    return inner === undefined
      ? null
      : `${path} has a key that is not allowed: ${lookUp(inner.instanceLocation, context).path}`;
  },
  minimum: (mismatch) => explainSize(mismatch, mismatch.value, "", "at least"),
  maximum: (mismatch) => explainSize(mismatch, mismatch.value, "", "at most"),
  exclusiveMinimum: (mismatch) => explainSize(mismatch, mismatch.value, "", "more than"),
  exclusiveMaximum: (mismatch) => explainSize(mismatch, mismatch.value, "", "less than"),
  multipleOf: ({ path, value, limit }) => `${path} is ${show(value)}; allowed: multiples of ${show(limit)}`,
  minLength: (mismatch) => explainSize(mismatch, lengthOf(mismatch.value), " characters long", "at least"),
  maxLength: (mismatch) => explainSize(mismatch, lengthOf(mismatch.value), " characters long", "at most"),
  pattern: ({ path, value, limit }) => `${path} is ${show(value)}; allowed: what matches /${cut(String(limit))}/`,
  minItems: (mismatch) => explainSize(mismatch, listOf(mismatch.value).length, " items long", "at least"),
  maxItems: (mismatch) => explainSize(mismatch, listOf(mismatch.value).length, " items long", "at most"),
  uniqueItems: ({ path, error }) => `${path} has an item twice; allowed: each once (${error.error})`,
  minProperties: (mismatch) => explainSize(mismatch, keysOf(mismatch.value).length, " properties large", "at least"),
  maxProperties: (mismatch) => explainSize(mismatch, keysOf(mismatch.value).length, " properties large", "at most"),
};

/** The validator reports containers first; the cause is the first error that is no container. */
function indexOfCause(errors: readonly OutputUnit[]): number {
  const index = errors.findIndex(({ keyword }) => !CONTAINERS.has(keyword));
  return index < 0 ? 0 : index;
}

function explainSize({ path, limit }: Mismatch, size: unknown, unit: string, allowed: string): string {
  return `${path} is ${show(size)}${unit}; allowed: ${allowed} ${show(limit)}`;
}

/** A property, or an item, that is refused whatever it is. */
function explainUnknown({ errors, index, path, context }: Mismatch): string {
  const container = errors[index - 1];
  if (container === undefined) return `${path} is not allowed`;
  if (!container.keyword.endsWith("Properties")) return `${path} is not allowed here`;
  const around = context.schemaAt(container.keywordLocation.slice(0, container.keywordLocation.lastIndexOf("/")));
  const known = keysOf((around as { properties?: unknown } | undefined)?.properties);
  if (known.length === 0) return `${path} is not known`;
  const guess = nearest(path.slice(path.lastIndexOf(".") + 1), known.slice(0, 1000));
  return `${path} is not known; allowed: ${shorten(known)}${guess === null ? "" : `; did you mean ${guess}?`}`;
}

/** Describes the alternative that the value comes closest to: the one whose cause lies deepest, and is no wrong tag. */
function explainBranches({ errors, index, error, context }: Mismatch): string {
  const branches = new Map<string, OutputUnit[]>();
  let current: OutputUnit[] | undefined;
  for (const each of errors.slice(index + 1)) {
    if (each.keyword !== "false") {
      if (!each.keywordLocation.startsWith(`${error.keywordLocation}/`)) break;
      const [branch = ""] = each.keywordLocation.slice(error.keywordLocation.length + 1).split("/", 1);
      current = branches.get(branch) ?? [];
      branches.set(branch, current);
    }
    current?.push(each);
  }
  let best: readonly OutputUnit[] = [];
  let bestScore = -1;
  for (const branch of branches.values()) {
    const cause = branch[indexOfCause(branch)];
    if (cause === undefined) continue;
    const isTag = cause.keyword === "const" || cause.keyword === "enum";
    const score = 2 * cause.instanceLocation.split("/").length + (isTag ? 0 : 1);
    if (score > bestScore) [best, bestScore] = [branch, score];
  }
  return explainMismatch(best, context);
}

/** The value at a location such as `#/to/0`, and its path as people write it: `input.to[0]`. */
function lookUp(
  location: string,
  { value, name }: MismatchContext,
): { readonly path: string; readonly value: unknown } {
  let found = value;
  let path = name;
  for (const part of location.split("/").slice(1)) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    path = Array.isArray(found) ? `${path}[${key}]` : `${path}.${cut(key)}`;
    found = Object.hasOwn(Object(found), key) ? (found as Record<string, unknown>)[key] : undefined;
  }
  return { path, value: found };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/** Characters are counted as the validator counts them, by code points. */
function lengthOf(value: unknown): number {
  return [...String(value)].length;
}

function toJson(value: unknown): string {
  return cut(JSON.stringify(value));
}

function shorten(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_LISTED).join(", ");
  return texts.length > MAX_LISTED ? `${shown} and ${texts.length - MAX_LISTED} more` : shown;
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
