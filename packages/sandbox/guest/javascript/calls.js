// biome-ignore-all lint/style/useTemplate: the engine makes a call of String.prototype.concat of every template
import {
  bare,
  dataProperty,
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
  newList,
  objectKeys,
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

/** What a call is answered with that the host failed at, or whose answer cannot be told to a program. */
class HostError extends ErrorOf {}
define(HostError.prototype, "name", "HostError");

/** What a call is answered with that the host refuses: it could have been made, but not now, or not by this program. */
class HostRefusedError extends HostError {
  constructor(message, data) {
    super(message);
    define(this, "data", data);
    define(this, "code", textOrNull(data, "code"));
    define(this, "dimension", textOrNull(data, "dimension"));
  }
}
define(HostRefusedError.prototype, "name", "HostRefusedError");

function textOrNull(data, key) {
  const value = dataProperty(data, key);
  return typeof value === "string" ? value : null;
}

/** Brings an answer to the call that waits for it; false when none does. */
export function settle(id, kind, text) {
  const found = mapGet(waiting, id);
  if (found === undefined) return false;
  mapDelete(waiting, id);
  if (kind === "value") found.resolve(jsonParse(text));
  else if (kind === "failure") found.reject(new HostError(text));
  else {
    const refusal = jsonParse(text);
    found.reject(new HostRefusedError(dataProperty(refusal, "message"), dataProperty(refusal, "data")));
  }
  return true;
}

/** What agents call most, by names of their own; the host sees nothing but `call`. */
const named = {
  llm: (request) => call("llm", request),
  tool: (name, args) => call("tool", { __proto__: null, name, args: args ?? null }),
  spawn: (program, input, options) => call("spawn", spawning(program, input, options)),
  sleep: (ms) => call("sleep", { __proto__: null, ms }),
  budget: () => call("budget", { __proto__: null }),
};

function spawning(program, input, options) {
  const asked = { __proto__: null };
  const keys = typeof options === "object" && options !== null ? objectKeys(options) : newList();
  for (let index = 0; index < keys.length; index++) asked[keys[index]] = options[keys[index]];
  asked.program = program;
  asked.input = input ?? null;
  return asked;
}

export function clearCalls() {
  mapForEach(waiting, (_call, id) => mapDelete(waiting, id));
}

export function installCalls() {
  const { llm, tool, spawn, sleep, budget } = named;
  define(globalThis, "host", freeze(bare({ call, llm, tool, spawn, sleep, budget })));
  define(globalThis, "HostError", HostError);
  define(globalThis, "HostRefusedError", HostRefusedError);
}
