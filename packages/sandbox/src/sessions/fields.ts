import { nearestName } from "../packages/names.js";
import { SandboxInputError } from "./input-error.js";

/**
 * Looks at the keys of an object from outside. One that is not known is a mistake that would be passed over in silence,
 * and a limit that is passed over is no limit. `field` is where the object is, and empty for the options themselves.
 */
export function checkKeys(value: unknown, field: string, known: readonly string[]): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(field === "" ? "options" : field, value, `an object with ${known.join(", ")}`);
  }
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const guess = nearestName(key, known) ?? known.find((each) => each.startsWith(key)) ?? null;
    const hint = guess === null ? "" : `; did you mean ${guess}?`;
    const place = field === "" ? key : `${field}.${key}`;
    throw new SandboxInputError(place, `is not known here${hint}; allowed: ${known.join(", ")}`);
  }
}

export function whole(value: unknown, field: string, least: number, most: number): void {
  const fits = Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
  if (!fits) throw wrong(field, value, `a whole number from ${least} to ${most}`);
}

export function wrong(field: string, value: unknown, allowed: string): SandboxInputError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : String(value);
  return new SandboxInputError(field, `is ${shown}; allowed: ${allowed}`);
}
