import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { MAX_DEPTH } from "../../core/chain/scan.js";
import { InputError, show } from "../../core/errors.js";
import { isObject } from "./json-object.js";
import { checkCase } from "./member-names.js";
import type { RequestFacts } from "./protocol.js";
import { scanText, type TextBounds } from "./text-scan.js";

/** No model has a longer name; a longer one is not looked at any closer. */
const LONGEST_NAME = 512;

/** More answers to one request than any provider gives. */
const MOST_ANSWERS = 1024;

/** No limit of output is higher, whatever stands there; it keeps every product of limits a whole number. */
const MOST_OUTPUT = 1_000_000_000;

/** No number is longer in JSON as it is written here. */
const LONGEST_NUMBER = 25;

/**
 * As many shapes as a hundred tools have with thirty parameters each, and a megabyte of the smallest messages beside them; or more of
 * the one where there is less of the other, as in an answer's form of five thousand properties.
 */
const BOUNDS: TextBounds = { shapes: 3000, members: 86_500 };

/** Where in a body a value stands. Bodies have many places and errors are few, so that it is put into words only when asked for. */
export type Place = string | (() => string);

export function nameOf(place: Place): string {
  return typeof place === "string" ? place : place();
}

/** Providers take null for "not said". */
export function isSaid(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null;
}

/** The model that is asked: what the server is known to run counts before what the body says. */
export function modelIn(body: JsonObject, facts: Pick<RequestFacts, "model">): string {
  const model: Json | undefined = facts.model ?? body.model;
  if (typeof model === "string" && model !== "" && model.length <= LONGEST_NAME) return model;
  throw new InputError(
    "model",
    `is ${show(model)}; allowed: the name of a model, without which nobody knows its price`,
  );
}

/** A field that is true or false; anything else could be read one way here and another way there. */
export function flagIn(body: JsonObject, field: string): boolean {
  const value = body[field];
  if (!isSaid(value)) return false;
  if (typeof value === "boolean") return value;
  throw new InputError(field, `is ${show(value)}; allowed: true or false`);
}

/** A limit of output, or null where the field says nothing. Some servers take 0 for no limit at all, so it has to be meant. */
export function limitIn(body: JsonObject, field: string, least: 0 | 1): number | null {
  const value = body[field];
  if (!isSaid(value)) return null;
  if (isCount(value) && value >= least) return Math.min(value, MOST_OUTPUT);
  throw new InputError(field, `is ${show(value)}; allowed: a whole number of tokens, ${least} or more`);
}

/** How many answers a field asks for. */
export function answersIn(body: JsonObject, field: string): number {
  const value = body[field];
  if (!isSaid(value)) return 1;
  if (isCount(value) && value >= 1 && value <= MOST_ANSWERS) return value;
  throw new InputError(field, `is ${show(value)}; allowed: a whole number from 1 to ${MOST_ANSWERS}`);
}

export function listAt(value: Json | undefined, place: Place): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  throw new InputError(nameOf(place), `is ${show(value)}; allowed: a list`);
}

export function objectAt(value: Json | undefined, place: Place): JsonObject {
  if (!isObject(value)) throw new InputError(nameOf(place), `is ${show(value)}; allowed: an object`);
  checkCase(value, place);
  return value;
}

export function textAt(value: Json | undefined, place: Place): string {
  if (typeof value === "string") return value;
  throw new InputError(nameOf(place), `is ${show(value)}; allowed: a text`);
}

/** Gives each object of a list to a reader, with its place. */
export function forEachObject(
  value: Json | undefined,
  place: Place,
  read: (item: JsonObject, at: Place) => void,
): void {
  const list = listAt(value, place);
  for (let index = 0; index < list.length; index++) {
    const at = () => `${nameOf(place)}[${index}]`;
    read(objectAt(list[index], at), at);
  }
}

/** The place of a field of what stands at a place. */
export function below(place: Place, field: string): Place {
  return () => `${nameOf(place)}.${field}`;
}

/** What a body is held to has to be a number in JSON too: NaN would be written as null, which is no limit. */
export function checkHeld(output_tokens: number): number {
  if (isCount(output_tokens)) return output_tokens;
  throw new InputError("output_tokens", `is ${show(output_tokens)}; allowed: a whole number of tokens`);
}

/** Refuses bodies so deep that whoever writes them out again runs out of stack. */
export function checkDepth(body: JsonObject, { shallow = false }: Pick<RequestFacts, "shallow"> = {}): void {
  if (!shallow && !isWithin(body, MAX_DEPTH)) throw tooDeep();
}

/**
 * The same for a body that is still a text; it also refuses one that would take long to parse. Gives back how many bytes the body
 * can have when it is written anew, as it is sent: a number such as 1e20 has four characters, and 21 then.
 */
export function checkText(text: string, bytes: number): number {
  const { problem, exponents } = scanText(text, MAX_DEPTH + 1, BOUNDS);
  if (problem === "deep") throw tooDeep();
  if (problem === "shapes") {
    const remedy = "send large tables as a text or as lists of lists";
    throw new InputError("body", `has too many different names and orders of names; ${remedy}`);
  }
  return bytes + exponents * LONGEST_NUMBER;
}

function tooDeep(): InputError {
  return new InputError("body", `is nested more than ${MAX_DEPTH} levels deep; make it flatter`);
}

/** Every request is walked through once, so this looks at nothing but containers and makes no lists. */
function isWithin(container: object, levels: number): boolean {
  if (levels < 0) return false;
  if (Array.isArray(container)) {
    for (let index = 0; index < container.length; index++) {
      const value: unknown = container[index];
      if (typeof value === "object" && value !== null && !isWithin(value, levels - 1)) return false;
    }
    return true;
  }
  for (const key in container) {
    const value = (container as Record<string, unknown>)[key];
    if (typeof value === "object" && value !== null && !isWithin(value, levels - 1)) return false;
  }
  return true;
}
