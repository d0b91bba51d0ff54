import { scansWhole } from "./bytes.js";
import { explain, isPlainObject, isWellFormed } from "./canonical-error.js";
import { remember } from "./remember.js";
import { MAX_DEPTH, scanValue } from "./scan.js";

/** What canonical JSON can hold: plain data, finite numbers and well-formed strings. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A plain object of JSON values; only its own enumerable string keys are written. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * Writes a value as canonical JSON (RFC 8785): no whitespace, keys sorted by UTF-16 code units, numbers as ECMAScript
 * prints them. Two values that mean the same give the same text, so the text can be hashed and signed.
 *
 * @example
 * ```ts
 * canonicalize({ b: 1e21, a: "€" }); // '{"a":"€","b":1e+21}'
 * ```
 *
 * @throws {CanonicalError} naming the path of the first part that is not JSON: it never drops or alters a value in silence.
 */
export function canonicalize(value: Json): string {
  return canonicalizeAt(value, "$", 0);
}

/** Like `canonicalize`, for a value that will stand at `path`, inside `depth` other containers. */
export function canonicalizeAt(value: Json, path: string, depth: number): string {
  const text = write(value, depth);
  if (text === undefined) throw explain(value, path, depth);
  return text;
}

/**
 * Whether a text is canonical JSON: exactly when `canonicalize(JSON.parse(text)) === text`. It reads the text once and
 * builds no objects, so that checking a chain costs about as much as hashing it.
 *
 * @example
 * ```ts
 * isCanonical('{"a":1,"b":2}'); // true
 * isCanonical('{"b":2,"a":1}'); // false: the keys are out of order
 * ```
 */
export function isCanonical(text: string): boolean {
  return scansWhole(text, (bytes) => scanValue(bytes, 0, 0));
}

const NEEDS_CARE = /["\\\p{Cc}\p{Cs}]/u;

/** Quotes a string; most strings need no escape, and for them one test is cheaper than a call of JSON.stringify. */
function quote(text: string): string | undefined {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  return isWellFormed(text) ? JSON.stringify(text) : undefined;
}

/**
 * Gives `undefined` as soon as a part cannot be written. Where that part is gets found out by a second walk, so that the
 * usual case carries no path along.
 */
function write(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      return Number.isFinite(value) ? `${value}` : undefined;
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth >= MAX_DEPTH) return undefined;
      return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1);
    default:
      return undefined;
  }
}

function writeArray(items: readonly unknown[], depth: number): string | undefined {
  let text = "[";
  for (let index = 0; index < items.length; index++) {
    const item = write(items[index], depth);
    if (item === undefined) return undefined;
    text += index === 0 ? item : `,${item}`;
  }
  return `${text}]`;
}

function writeObject(value: object, depth: number): string | undefined {
  if (!isPlainObject(value)) return undefined;
  let text: string | undefined = "";
  for (const key of sortedKeys(value)) text = writeMember(text, key, value[key], depth);
  return text === "" ? "{}" : text && `${text}}`;
}

function writeMember(before: string | undefined, key: string, value: unknown, depth: number): string | undefined {
  const start = memberStart(key);
  if (before === undefined || start === undefined) return undefined;
  if (typeof value === "string" && !NEEDS_CARE.test(value)) {
    return `${before}${before === "" ? start.firstString : start.nextString}${value}"`;
  }
  const written = write(value, depth);
  return written && `${before}${before === "" ? start.first : start.next}${written}`;
}

/**
 * What stands before a member's value, by whether it is the first one and whether a quote follows. The fewer pieces a
 * text is put together from, the faster it is: with these, writing beats JSON.stringify.
 */
const memberStart = remember((key) => {
  const name = quote(key);
  if (name === undefined) return undefined;
  return { first: `{${name}:`, next: `,${name}:`, firstString: `{${name}:"`, nextString: `,${name}:"` };
});

/** Callers on the hot path write their keys in order; a look is cheaper than a sort. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  let previous = "";
  for (const key of keys) {
    if (key < previous) return keys.sort();
    previous = key;
  }
  return keys;
}
