import type { Dimensions } from "../core/dimensions.js";
import { readAmounts } from "../core/input.js";
import type { GatedCall } from "../runtime/gated-call.js";
import type { CallDeed } from "./deed.js";

/** What the gate is asked for: the most that a call may use, how little it could do with, and what calls like it use where that is known. */
export function quoteOf(
  { asked, least, learned, seen }: Pick<CallDeed, "asked" | "least" | "learned" | "seen">,
  dimensions: Dimensions,
): Pick<GatedCall, "asked" | "least" | "ledger" | "seen"> {
  const more = seen === undefined ? {} : { seen };
  if (learned === undefined) return { asked, ...(least !== undefined && { least }), ...more };
  const whole = readAmounts({ steps: 1, ...asked }, dimensions, { field: "asked" });
  const needed = least === undefined ? {} : { least: readAmounts(least, dimensions, { field: "least" }) };
  return { ledger: { asked: whole, ...needed, learned }, ...more };
}
