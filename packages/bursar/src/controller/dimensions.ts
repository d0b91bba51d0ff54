import { defineDimension, writeAmount } from "../core/dimension.js";
import { type Dimensions, STANDARD } from "../core/dimensions.js";

export const COST = "cost_usd";
export const TOKENS = "llm_tokens";
export const INPUT_TOKENS = "llm_input_tokens";
export const OUTPUT_TOKENS = "llm_output_tokens";
export const TIME = "wall_clock_ms";
export const ITERATIONS = "iterations";
export const SUBCALLS = "subcalls";
/** Only ever asked for: a call is too deep or it is not, whatever depth was reached before. */
export const DEPTH = "depth";
/** The deepest level recorded. It has no limit, because a record is the truth and must not block what is less deep. */
export const DEPTH_REACHED = "depth_reached";

const OWN: ReadonlySet<string> = new Set([ITERATIONS, DEPTH, DEPTH_REACHED]);

/** Whether each controller has this for itself: what a child uses of it counts in no other. */
export function isOwn(id: string): boolean {
  return OWN.has(id);
}

/** What the ledger behind a controller counts. */
export const DIMENSIONS: Dimensions = STANDARD.with(
  defineDimension({ id: DEPTH_REACHED, kind: "peak", unit: "levels", description: "Deepest level of subcalls" }),
);

/** An amount as a user of the controller reads it, dollars for money; `null` where there is no limit. */
export function written(id: string, amount: number): number | null {
  return amount === Number.POSITIVE_INFINITY ? null : writeAmount(DIMENSIONS.get(id), amount);
}
