import type { Json } from "../../core/chain/canonical.js";
import type { Dimensions } from "../../core/dimensions.js";
import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import type { Prediction, Question } from "../../ports/foresight.js";
import { readExpectation } from "../../runs/expectation.js";
import { isObject } from "../wire/json-object.js";

const LONGEST = 20_000;

/**
 * Reads what a model has answered. All of it makes sense or none of it counts: whoever gets one figure wrong has not understood the
 * question. Only what was asked for is taken, so that no answer reaches any further.
 */
export function readPredictions(
  value: Json,
  { dimensions: wanted }: Question,
  dimensions: Dimensions,
): Readonly<Record<string, Prediction>> {
  const answer = parsed(textOf(value));
  checkKeys(answer, "answer", ["dimensions"]);
  const { dimensions: said } = answer as { readonly dimensions?: Json };
  if (!Array.isArray(said)) throw new InputError("answer.dimensions", `is ${show(said)}; allowed: a list`);
  if (said.length > wanted.length) throw new InputError("answer.dimensions", "says more than it was asked");
  const figures = new Map<string, Json>();
  for (const [index, entry] of (said as readonly Json[]).entries()) {
    const field = `answer.dimensions[${index}]`;
    checkKeys(entry, field, ["id", "median", "upper"]);
    const { id, median = null, upper = null } = entry as { id?: Json; median?: Json; upper?: Json };
    if (typeof id !== "string" || !wanted.some((each) => each.id === id)) {
      throw new InputError(`${field}.id`, `is ${show(id)}; allowed: ${wanted.map((each) => each.id).join(", ")}`);
    }
    if (figures.has(id)) throw new InputError(`${field}.id`, `says ${id} a second time; give it once`);
    figures.set(id, { median, upper });
  }
  return readExpectation(Object.fromEntries(figures), dimensions, "answer");
}

function textOf(value: Json): string {
  const text = isObject(value) ? value.text : value;
  if (typeof text === "string" && text.length <= LONGEST) return text;
  throw new InputError("answer", `is ${show(text)}; allowed: a text of at most ${LONGEST} characters`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError("answer", `is ${show(text)}; allowed: JSON`);
  }
}
