import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import { readHeaders, readKey, readUrl } from "../../models/chat/endpoint.js";
import { readAllowedNames } from "../../models/meter/allowed-members.js";
import { isObject } from "../../models/wire/json-object.js";
import type { Timer } from "../../ports/timer.js";
import { systemTimer } from "../../runtime/system-clock.js";
import type { AdapterOptions } from "../settings.js";
import type { Dialect } from "./dialect.js";

/** A model behind a provider's address. */
export interface ModelOptions {
  readonly model: string;
  readonly apiKey?: string | null;
  /** The base address, as SDKs want it; the provider's own unless it is said. */
  readonly url?: string;
  /** What sends requests: the global `fetch`. With `governedFetch()`, the budget around an evaluation pays for them in money. */
  readonly fetch?: typeof fetch;
  /** Sent along with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of every request, in the provider's own words, such as `temperature` or `thinking`. */
  readonly parameters?: JsonObject;
  /**
   * The most one answer may have, thinking included: 4,096. So much is reserved for each request, or what remains if that is less;
   * the lower it is, the more requests can share a budget at once.
   */
  readonly maxOutputTokens?: number;
  /** How long an answer may take: 600,000. */
  readonly timeout_ms?: number;
  /** What wakes up when an answer takes too long. The machine's timers by default. */
  readonly timer?: Timer;
  /**
   * Whether answers come piece by piece. Connections that have nothing to say for minutes are cut by somebody on the way, so that
   * long answers need it; and of an answer that breaks off, it is known how far it came. Off unless it is said.
   */
  readonly stream?: boolean;
  /** Parameters that may be sent though they may choose another model or bring input from elsewhere; else they are refused. */
  readonly allow?: readonly string[];
}

/** The options with their defaults. */
export interface ModelSettings {
  readonly dialect: Dialect;
  readonly model: string;
  readonly apiKey: string | null;
  readonly url: URL;
  readonly send: typeof fetch;
  readonly headers: Headers;
  readonly parameters: JsonObject;
  readonly maxOutputTokens: number;
  readonly timeout_ms: number;
  readonly timer: Timer;
  readonly stream: boolean;
  readonly allow: ReadonlySet<string>;
}

const KEYS = [
  "model",
  "apiKey",
  "url",
  "fetch",
  "headers",
  "parameters",
  "maxOutputTokens",
  "timeout_ms",
  "timer",
  "stream",
  "allow",
];
const EVALUATION_KEYS: readonly string[] = ["clock", "onCall", "maxRounds", "maxDepth"];
const MAX_OUTPUT = 4_096;
const TIMEOUT_MS = 600_000;
/** What platforms can wait at most. */
const LONGEST_MS = 2 ** 31 - 1;
/** No answer of any model is longer; a limit above it is a mistake. */
const MOST_OUTPUT = 10_000_000;

export function readModelOptions(options: ModelOptions, dialect: Dialect, home: string): ModelSettings {
  checkKeys(options, "options", KEYS);
  const {
    model,
    parameters = {},
    maxOutputTokens = MAX_OUTPUT,
    timeout_ms = TIMEOUT_MS,
    stream = false,
    fetch: given,
  } = options;
  if (typeof model !== "string" || model === "") {
    throw new InputError("options.model", `is ${show(model)}; allowed: the name of a model`);
  }
  if (given !== undefined && typeof given !== "function") {
    throw new InputError("options.fetch", `is ${show(given)}; allowed: a function like fetch`);
  }
  if (typeof stream !== "boolean") {
    throw new InputError("options.stream", `is ${show(stream)}; allowed: true or false`);
  }
  return {
    dialect,
    model,
    apiKey: readKey(options.apiKey, "options.apiKey"),
    url: readUrl(options.url ?? home, "options.url", dialect.path),
    // The global one is looked up with every call, so that whoever replaces it later is heard.
    send: given ?? ((input, init) => globalThis.fetch(input, init)),
    headers: readHeaders(options.headers, "options.headers"),
    parameters: readParameters(parameters, dialect),
    maxOutputTokens: whole(maxOutputTokens, "maxOutputTokens", MOST_OUTPUT),
    timeout_ms: whole(timeout_ms, "timeout_ms", LONGEST_MS),
    timer: options.timer ?? systemTimer,
    stream,
    allow: readAllowedNames(options.allow, "options.allow"),
  };
}

/** Parts what is said about the model from what is said about evaluations; both are told of the timer. */
export function partedOptions<Options extends ModelOptions>(
  options: Options & AdapterOptions,
): { readonly model: Options; readonly evaluation: AdapterOptions } {
  const entries = Object.entries(options ?? {});
  const isAbout = ([key]: readonly [string, unknown]): boolean => EVALUATION_KEYS.includes(key);
  return {
    model: Object.fromEntries(entries.filter((entry) => !isAbout(entry))) as Options,
    evaluation: Object.fromEntries(entries.filter((entry) => isAbout(entry) || entry[0] === "timer")) as AdapterOptions,
  };
}

function readParameters(parameters: unknown, { fields }: Dialect): JsonObject {
  if (!isObject(parameters as Json)) {
    throw new InputError("options.parameters", `is ${show(parameters)}; allowed: an object of fields of a request`);
  }
  for (const field of ["model", "stream", ...fields]) {
    if (!Object.hasOwn(parameters as object, field)) continue;
    throw new InputError(`options.parameters.${field}`, "is written with every request; leave it out");
  }
  return parameters as JsonObject;
}

function whole(value: unknown, field: string, most: number): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  throw new InputError(`options.${field}`, `is ${show(value)}; allowed: a whole number from 1 to ${most}`);
}
