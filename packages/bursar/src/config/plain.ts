import { show } from "../core/errors.js";
import { type Field, pathOf } from "./field.js";
import type { Reading } from "./reading.js";

const MOST_DEPTH = 8;

/** An object of a program as a field, so that it is read by the same rules as a file. */
export function plainField(reading: Reading, value: unknown, path: string, depth = 0): Field {
  const about = { path, place: null };
  if (value === undefined) return { kind: "empty", ...about };
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return { kind: "scalar", ...about, value, written: null };
  }
  if (typeof value !== "object" || depth > MOST_DEPTH) {
    reading.report(about, `is ${show(value)}; allowed: plain data`);
    return { kind: "empty", ...about };
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => plainField(reading, item, `${path}[${index}]`, depth + 1));
    return { kind: "list", ...about, items };
  }
  const members = Object.entries(value).map(([key, each]) => {
    return { key, place: null, value: plainField(reading, each, pathOf(path, key), depth + 1) };
  });
  return { kind: "map", ...about, members };
}
