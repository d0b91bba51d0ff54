import type { Json, JsonObject } from "../../core/chain/canonical.js";

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one in place of anything else: for answers, in which whatever is not there says nothing. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The list, or an empty one in place of anything else. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** The object a text stands for, or null when it stands for anything else. */
export function parsedObject(text: string): JsonObject | null {
  // Not even tried: many streams end with [DONE], and to fail takes the engine longer than to parse ten events.
  if (text.startsWith("[")) return null;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
