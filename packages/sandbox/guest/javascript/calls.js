// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  bare,
  define,
  ErrorOf,
  freeze,
  host,
  jsonParse,
  jsonStringify,
  MapOf,
  mapDelete,
  mapForEach,
  mapGet,
  mapSet,
  mapSize,
  PromiseOf,
  RangeErrorOf,
  TypeErrorOf,
} from "./primordials.js";

const LONGEST_NAME = 200;
const LONGEST_ARGUMENTS = 1_000_000;
const MOST_CALLS = 1000;

/** The calls that have no answer yet. They live here, in the guest's memory, so that a snapshot holds them. */
const waiting = new MapOf();
let nextId = 1;

function call(name, args) {
  return new PromiseOf((resolve, reject) => {
    if (typeof name !== "string" || name === "" || name.length > LONGEST_NAME) {
      throw new TypeErrorOf("host.call needs a name of at most " + LONGEST_NAME + " characters");
    }
    const text = args === undefined ? "null" : jsonStringify(args);
    if (typeof text !== "string") throw new TypeErrorOf("the arguments of host.call have to be JSON values");
    if (text.length > LONGEST_ARGUMENTS) {
      throw new RangeErrorOf(
        "the arguments of host.call have " + text.length + " characters; " + LONGEST_ARGUMENTS + " are allowed",
      );
    }
    if (mapSize(waiting) >= MOST_CALLS) throw new RangeErrorOf("more than " + MOST_CALLS + " calls wait for an answer");
    const id = nextId;
    const refusal = host.call(id, name, text);
    if (refusal !== "") throw new TypeErrorOf(refusal);
    nextId++;
    mapSet(waiting, id, { resolve, reject });
  });
}

/** Brings an answer to the call that waits for it; false when none does. */
export function settle(id, isValue, text) {
  const found = mapGet(waiting, id);
  if (found === undefined) return false;
  mapDelete(waiting, id);
  if (isValue) found.resolve(jsonParse(text));
  else found.reject(new ErrorOf(text));
  return true;
}

export function clearCalls() {
  mapForEach(waiting, (_call, id) => mapDelete(waiting, id));
}

export function installCalls() {
  define(globalThis, "host", freeze(bare({ call })));
}
