import { describeField, type Field } from "./field.js";
import { asText, type Reading } from "./reading.js";
import { readUnits, UNIT_EXAMPLES, type UnitKind } from "./units.js";

/** What a number may be. */
export interface Bounds {
  readonly least: number;
  readonly most?: number;
  /** Whether it has to be a whole one, as most have. */
  readonly whole?: boolean;
  /** The units it may be written with. */
  readonly units?: UnitKind;
}

const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

// All of these give null for what is not there, and after a complaint.

/** Reads true or false; `or` is what else would be taken there. */
export function readFlag(reading: Reading, field: Field | undefined, or = ""): boolean | null {
  const given = scalarIn(field);
  if (typeof given === "boolean") return given;
  complain(reading, field, `true or false${or === "" ? "" : `, or ${or}`}`);
  return null;
}

/** Reads one of a few words. */
export function readWord<const Word extends string>(
  reading: Reading,
  field: Field | undefined,
  words: readonly Word[],
): Word | null {
  const given = scalarIn(field);
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  complain(reading, field, words.join(", "));
  return null;
}

export function readNumber(reading: Reading, field: Field | undefined, bounds: Bounds): number | null {
  const { least, most = Number.MAX_SAFE_INTEGER, whole = true, units } = bounds;
  const given = scalarIn(field);
  const value = typeof given === "string" && units !== undefined ? readUnits(given, units) : given;
  const fits = typeof value === "number" && Number.isFinite(value) && value >= least && value <= most;
  if (fits && (!whole || Number.isSafeInteger(value))) return value;
  const from = least === Number.NEGATIVE_INFINITY ? "" : ` from ${least}`;
  const to = bounds.most === undefined ? "" : ` to ${most}`;
  const or = units === undefined ? "" : `, or ${UNIT_EXAMPLES[units]}`;
  complain(reading, field, `${whole ? "a whole number" : "a number"}${from}${to}${or}`);
  return null;
}

/** Reads where something is sent to. A login in it would be a secret in the file; `instead` says what there is in its place. */
export function readUrl(
  reading: Reading,
  field: Field | undefined,
  { example, instead }: { readonly example: string; readonly instead: string },
): string | null {
  const text = field === undefined ? null : asText(reading, field, "an http or https URL");
  if (field === undefined || text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    reading.report(field, `is no http or https URL; write it as ${example}`);
    return null;
  }
  if (url.username === "" && url.password === "") return text;
  reading.report(field, `has a login in it; leave it out, for ${instead}`);
  return null;
}

/** Reads the name of the environment variable that holds a key or a secret. */
export function readVariable(reading: Reading, field: Field | undefined, holds: "key" | "secret"): string | null {
  const name = field === undefined ? null : asText(reading, field, "the name of an environment variable");
  if (field === undefined || name === null || ENVIRONMENT_NAME.test(name)) return name;
  // It may be the secret itself, so it is not repeated.
  reading.report(field, `is no name of an environment variable; put the ${holds} there, and its name here`);
  return null;
}

function scalarIn(field: Field | undefined): string | number | boolean | null {
  return field?.kind === "scalar" ? field.value : null;
}

function complain(reading: Reading, field: Field | undefined, allowed: string): void {
  if (field !== undefined) reading.report(field, `is ${describeField(field)}; allowed: ${allowed}`);
}
