import type { Json, JsonObject } from "./chain/canonical.js";
import { InputError, show } from "./errors.js";

const PATH = /^[a-z_]{1,50}(\.[a-z_]{1,50}){0,3}$/;
const MOST_PATHS = 50;

/** Which members of a body are wanted, as lists of names; refuses what names none. */
export function memberPaths(only: readonly string[]): readonly (readonly string[])[] {
  if (only.length > MOST_PATHS) throw new InputError("only", `names ${only.length} members; allowed: ${MOST_PATHS}`);
  return only.map((path) => {
    if (PATH.test(path)) return path.split(".");
    throw new InputError("only", `names ${show(path)}; allowed: names of members such as ended or program.name`);
  });
}

/** A body of some members, each with its value. */
export function bodyOf(paths: readonly (readonly string[])[], values: readonly Json[]): JsonObject {
  const body: Record<string, Json> = {};
  for (const [index, path] of paths.entries()) {
    let at = body;
    for (const name of path.slice(0, -1)) {
      const inner = (at[name] ?? {}) as Record<string, Json>;
      at[name] = inner;
      at = inner;
    }
    at[path.at(-1) ?? ""] = values[index] ?? null;
  }
  return body;
}

/** The value at a path inside a body; null when there is none. */
export function memberOf(body: JsonObject, path: readonly string[]): Json {
  let value: Json | undefined = body;
  for (const name of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    value = Object.hasOwn(value, name) ? (value as JsonObject)[name] : null;
  }
  return value ?? null;
}
