import type { Amounts } from "../../core/amount.js";
import type { Path } from "../../core/budget.js";
import { roomOf } from "../../core/cut.js";
import type { Store } from "../../ports/store.js";

const TOTAL = "llm_tokens";

/** Whether so much fits into what is left of a path, as far as can be seen now. */
export function fits({ clock, dimensions }: Store, path: Path, amounts: Amounts): boolean {
  const time = clock.now();
  const { llm_tokens: total = 0, llm_input_tokens: input = 0, llm_output_tokens: output = 0 } = amounts;
  // Who asks for input and output asks for both together, as the ledger sees it.
  const both = input + output;
  if (both > total && roomOf(path, TOTAL, time, dimensions) < both) return false;
  for (const id in amounts) {
    if (id === TOTAL && both > total) continue;
    if (roomOf(path, id, time, dimensions) < (amounts[id] ?? 0)) return false;
  }
  return true;
}
