import type { Json, JsonObject } from "bursar";

/** An object out of a record; an empty one for what is none. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
