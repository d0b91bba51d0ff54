import { isWellFormed, scansWhole } from "./bytes.js";
import { explain, isPlainObject } from "./canonical-error.js";
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

/** A text as canonical JSON. */
export function quoteText(text: string): string {
  const quoted = quote(text);
  if (quoted === undefined) throw explain(text, "$", 0);
  return quoted;
}

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
  let member: Member | undefined;
  // Not Object.keys: with for-in, the engine knows where in the object each value is and need not look its key up.
  for (const key in value) {
    if (!isOwn.call(value, key)) continue;
    member = member === undefined ? firstMember(key) : memberAfter(member, key);
    if (member === undefined) return writeSorted(value, depth);
    text = writeMember(text, member, value[key], depth);
    if (text === undefined) return undefined;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** For an object whose keys are out of order, or one of them not well-formed: the rare case, and so the slow one. */
function writeSorted(value: Record<string, unknown>, depth: number): string | undefined {
  let text: string | undefined = "";
  for (const key of Object.keys(value).sort()) {
    const member: Member | undefined = text === "" ? firstMember(key) : nextMember(key);
    text = member && writeMember(text, member, value[key], depth);
    if (text === undefined) return undefined;
  }
  return `${text}}`;
}

function writeMember(before: string, member: Member, value: unknown, depth: number): string | undefined {
  if (value === member.value) return before + (member.text ?? remembered(member));
  if (typeof value === "string" && !NEEDS_CARE.test(value)) {
    note(member, value);
    return `${before}${member.stringStart}${value}"`;
  }
  const written = write(value, depth);
  if (written === undefined) return undefined;
  if (typeof value !== "object") note(member, value);
  return `${before}${member.start}${written}`;
}

/**
 * What is known of a key in its place, first in its object or not. A text is the faster put together the fewer its
 * pieces are, and links repeat themselves: so it keeps what stands before the value, which key came next, and what its
 * value was.
 */
interface Member {
  readonly key: string;
  readonly start: string;
  /** The same for a value that is a string without escapes. */
  readonly stringStart: string;
  /** A key that sorts after this one. */
  follower: Member | undefined;
  /** The value written last; a symbol, which no value is, while there is none. */
  value: unknown;
  /** The whole member with that value, once it was needed again. */
  text: string | undefined;
}

const NOTHING = Symbol("nothing");
const MAX_NOTED_LENGTH = 100;
/** Not Object.hasOwn, which inside a for-in is not known to hold and so takes longer than all the rest of the loop. */
const { hasOwnProperty: isOwn } = Object.prototype;

const firstMember = remember((key) => makeMember(key, "{"));
const nextMember = remember((key) => makeMember(key, ","));

function makeMember(key: string, mark: "{" | ","): Member | undefined {
  const name = quote(key);
  if (name === undefined) return undefined;
  const start = [mark, name, ":"].join("");
  return { key, start, stringStart: [start, '"'].join(""), follower: undefined, value: NOTHING, text: undefined };
}

/** The member that comes after another one, or undefined when it may not. */
function memberAfter(before: Member, key: string): Member | undefined {
  const { follower } = before;
  if (follower !== undefined && follower.key === key) return follower;
  if (key < before.key) return undefined;
  const member = nextMember(key);
  if (key.length <= MAX_NOTED_LENGTH) before.follower = member;
  return member;
}

function note(member: Member, value: unknown): void {
  if (typeof value === "string" && value.length > MAX_NOTED_LENGTH) return;
  member.value = value;
  member.text = undefined;
}

/** Joined and not added up, because that gives one piece. */
function remembered(member: Member): string {
  member.text = [member.start, write(member.value, 0)].join("");
  return member.text;
}
