import { type Amount, type Amounts, amount, NONE } from "../core/amount.js";
import { readAmount } from "../core/dimension.js";
import { InputError, show } from "../core/errors.js";
import {
  COST,
  DEPTH_REACHED,
  DIMENSIONS,
  INPUT_TOKENS,
  ITERATIONS,
  OUTPUT_TOKENS,
  SUBCALLS,
  TOKENS,
} from "./dimensions.js";
import { readFields } from "./input.js";

/** What was used under a controller: its children are included in all but `iterations` and `maxDepthReached`. */
export interface Usage {
  /** In US dollars. */
  readonly cost: number;
  /** Input and output tokens together. */
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Running time in milliseconds, until now or until the controller ended. */
  readonly duration: number;
  /** The controller's own rounds; a child has rounds of its own. */
  readonly iterations: number;
  readonly subcalls: number;
  /** The deepest level that the controller itself has recorded. */
  readonly maxDepthReached: number;
}

/** What is left under a controller: neither used nor, of cost and tokens, held for a child. `null` is no limit. */
export interface Remaining {
  /** In US dollars. */
  readonly cost: number | null;
  readonly tokens: number | null;
  /** In milliseconds. */
  readonly time: number | null;
  /** How many levels of subcalls may lie below the controller. Depth is not used up. */
  readonly depth: number | null;
  readonly iterations: number | null;
}

/** What `record` takes; what is left out is none of it. */
export interface Recording {
  /** In US dollars; a part of a billionth counts as a whole one. */
  readonly cost?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** `true` for one iteration more. */
  readonly iteration?: boolean;
  /** `true` for one subcall more. */
  readonly subcall?: boolean;
  /** The level reached, counted from the controller that records: its own calls are 0, its subcalls 1. */
  readonly depth?: number;
}

const FIELDS = ["cost", "inputTokens", "outputTokens", "iteration", "subcall", "depth"] as const;

/** Reads a recording into amounts, all of it or none. A field that is there must have a value: usage a provider did not report is not zero. */
export function readRecording(input: unknown): Amounts {
  const given = readFields(input, "usage", FIELDS);
  const read = (field: keyof Recording, reader: (value: unknown) => Amount): Amount =>
    field in given ? reader(given[field]) : NONE;
  const inputTokens = read("inputTokens", (value) => amount(value, "inputTokens"));
  const outputTokens = read("outputTokens", (value) => amount(value, "outputTokens"));
  return {
    [COST]: read("cost", (value) => readAmount(DIMENSIONS.get(COST), value, "up", "cost")),
    [INPUT_TOKENS]: inputTokens,
    [OUTPUT_TOKENS]: outputTokens,
    [TOKENS]: amount(inputTokens + outputTokens, "inputTokens + outputTokens"),
    [ITERATIONS]: read("iteration", (value) => one(value, "iteration")),
    [SUBCALLS]: read("subcall", (value) => one(value, "subcall")),
    [DEPTH_REACHED]: read("depth", (value) => amount(value, "depth")),
  };
}

function one(value: unknown, field: string): Amount {
  if (typeof value !== "boolean") throw new InputError(field, `is ${show(value)}; allowed: true, false`);
  return (value ? 1 : 0) as Amount;
}
