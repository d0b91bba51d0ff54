import { isWellFormed } from "./bytes.js";
import { MAX_DEPTH } from "./scan.js";

/** Thrown for a value that has no canonical JSON form; `path` says which part of it (`$` is the whole). */
export class CanonicalError extends TypeError {
  override readonly name = "CanonicalError";
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path} ${problem}; canonical JSON holds plain objects, arrays, strings, finite numbers, booleans and null`);
    this.path = path;
  }
}

/** An object literal, or what JSON.parse makes; also one from another realm, whose Object.prototype is not ours. */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, "isPrototypeOf");
}

/** Finds the first part of a value that could not be written, and makes the error that names it. */
export function explain(value: unknown, path: string, depth: number): CanonicalError {
  const error = inspect(value, path, depth, new Set());
  return error ?? new CanonicalError(path, "gave different answers when it was read twice");
}

function inspect(value: unknown, path: string, depth: number, around: Set<object>): CanonicalError | null {
  if (typeof value === "object" && value !== null) return inspectObject(value, path, depth, around);
  const problem = scalarProblem(value);
  return problem === null ? null : new CanonicalError(path, problem);
}

function scalarProblem(value: unknown): string | null {
  switch (typeof value) {
    case "string":
      return isWellFormed(value) ? null : "holds half of a surrogate pair";
    case "number":
      return Number.isFinite(value) ? null : `is ${value}`;
    case "undefined":
      return "is undefined";
    case "function":
    case "bigint":
    case "symbol":
      return `is a ${typeof value}`;
    default:
      return null;
  }
}

function inspectObject(value: object, path: string, depth: number, around: Set<object>): CanonicalError | null {
  if (around.has(value)) return new CanonicalError(path, "is cyclic: it contains itself");
  if (depth >= MAX_DEPTH) return new CanonicalError(path, `is nested deeper than ${MAX_DEPTH} levels`);
  if (!Array.isArray(value) && !isPlainObject(value)) {
    return new CanonicalError(path, `is an instance of ${className(value)}, not a plain object`);
  }
  around.add(value);
  const error = Array.isArray(value)
    ? inspectItems(value, path, depth, around)
    : inspectMembers(value, path, depth, around);
  around.delete(value);
  return error;
}

function inspectItems(items: unknown[], path: string, depth: number, around: Set<object>): CanonicalError | null {
  for (const [index, item] of items.entries()) {
    const error = inspect(item, `${path}[${index}]`, depth + 1, around);
    if (error) return error;
  }
  return null;
}

function inspectMembers(
  value: Record<string, unknown>,
  path: string,
  depth: number,
  around: Set<object>,
): CanonicalError | null {
  for (const key of Object.keys(value).sort()) {
    const member = /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    if (!isWellFormed(key)) return new CanonicalError(member, "has half of a surrogate pair in its key");
    const error = inspect(value[key], member, depth + 1, around);
    if (error) return error;
  }
  return null;
}

function className(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "a class";
}
