import type { Amount, Amounts } from "../core/amount.js";
import { readAmount } from "../core/dimension.js";
import { InputError } from "../core/errors.js";
import { COST, DEPTH, DIMENSIONS, ITERATIONS, TIME, TOKENS } from "./dimensions.js";
import { readFields } from "./input.js";

/** The limits of a controller. `null` is no limit, `0` is nothing of it. */
export interface Budget {
  /** In US dollars, to a billionth. */
  readonly maxCost: number | null;
  /** Input and output tokens together. */
  readonly maxTokens: number | null;
  /** Running time in milliseconds. */
  readonly maxTime: number | null;
  /** How many levels of subcalls may lie below the controller. */
  readonly maxDepth: number | null;
  readonly maxIterations: number | null;
}

/** What a controller takes for a limit that is left out. */
export const DEFAULT_BUDGET: Budget = Object.freeze({
  maxCost: 5.0,
  maxTokens: 500_000,
  maxTime: 300_000,
  maxDepth: 2,
  maxIterations: 30,
});

const DIMENSION_OF = {
  maxCost: COST,
  maxTokens: TOKENS,
  maxTime: TIME,
  maxDepth: DEPTH,
  maxIterations: ITERATIONS,
} as const satisfies Record<keyof Budget, string>;

const KEYS = Object.keys(DIMENSION_OF) as readonly (keyof Budget)[];

/** Reads the limits of a root. They round down, so that a rounding never favours the agent. */
export function readBudget(input: unknown): Amounts {
  const given = readFields(input, "budget", KEYS);
  const limits: Record<string, Amount> = {};
  for (const key of KEYS) {
    const value = key in given ? given[key] : DEFAULT_BUDGET[key];
    if (value === undefined) {
      throw new InputError(key, `is undefined; leave it out for ${DEFAULT_BUDGET[key]}, or give null for no limit`);
    }
    const id = DIMENSION_OF[key];
    if (value !== null) limits[id] = readAmount(DIMENSIONS.get(id), value, "down", key);
  }
  return limits;
}
