import { writeAmount } from "../core/dimension.js";
import { type Dimensions, STANDARD } from "../core/dimensions.js";
import { dimensionOf, readLimitField } from "./amounts.js";
import type { ScalarField } from "./field.js";
import { Reading } from "./reading.js";
import { Source } from "./source.js";

export interface BudgetFlagOptions {
  /** How the flag is called, for messages: `--budget`. */
  readonly flag?: string;
  readonly dimensions?: Dimensions;
}

/** What a flag asks for: limits in edge units, null for no limit. It can be given to `effectiveBudget` as it is. */
export interface BudgetFlag {
  readonly limits: Readonly<Record<string, number | null>>;
  readonly from: string;
}

const MOST_CHARACTERS = 4096;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Reads limits off a command line: `cost_usd=0.50,steps=20,wall_clock=60s,network_egress=10MB,llm_tokens=null`.
 *
 * @example
 * ```ts
 * const { limits } = readBudgetFlag("cost_usd=0.50,steps=20");
 * ```
 *
 * @throws {ConfigError} with everything that is wrong in it, and its column.
 */
export function readBudgetFlag(text: string, options: BudgetFlagOptions = {}): BudgetFlag {
  const { flag = "--budget", dimensions = STANDARD } = options;
  const source = new Source(flag, text, "flag");
  const reading = new Reading(source, dimensions);
  const limits: Record<string, number | null> = {};
  if (text.length > MOST_CHARACTERS) {
    reading.report({ path: flag, place: null }, `has more than ${MOST_CHARACTERS} characters; use a file`);
    reading.finish();
  }
  let offset = 0;
  for (const part of text.split(",")) {
    readPair(reading, source, part, offset, limits);
    offset += part.length + 1;
  }
  reading.finish();
  return { limits, from: flag };
}

function readPair(
  reading: Reading,
  source: Source,
  part: string,
  offset: number,
  limits: Record<string, number | null>,
): void {
  const start = offset + part.length - part.trimStart().length;
  const equals = part.indexOf("=");
  const name = (equals < 0 ? part : part.slice(0, equals)).trim();
  const about = { path: name, place: source.placeOf(start) };
  if (equals < 0 || name === "") {
    const shown = part.trim() === "" ? "nothing stands here" : `${part.trim()} has no value`;
    reading.report({ ...about, path: "" }, `${shown}; write dimension=limit, such as steps=20`);
    return;
  }
  const dimension = dimensionOf(reading, name, about);
  if (dimension === null) return;
  const behind = part.slice(equals + 1);
  const written = behind.trim();
  const place = source.placeOf(offset + equals + 1 + behind.length - behind.trimStart().length);
  const field = written === "" ? { kind: "empty" as const, path: name, place } : scalar(name, written, place);
  const limit = readLimitField(reading, dimension, field);
  if (limit === undefined) return;
  if (Object.hasOwn(limits, dimension.id)) reading.report(about, `says ${dimension.id} a second time; keep one`);
  limits[dimension.id] = limit === null ? null : writeAmount(dimension, limit);
}

function scalar(path: string, written: string, place: ScalarField["place"]): ScalarField {
  const value = written === "null" ? null : NUMBER.test(written) ? Number(written) : written;
  return { kind: "scalar", path, place, value, written };
}
