import type { Amounts } from "../../core/amount.js";
import type { Path } from "../../core/budget.js";
import { roomOf } from "../../core/cut.js";
import { withTotal } from "../../core/usage.js";
import type { Store } from "../../ports/store.js";

/** Whether so much fits into what is left of a path, as far as can be seen now. */
export function fits({ clock, dimensions }: Store, path: Path, amounts: Amounts): boolean {
  const time = clock.now();
  // Who asks for input and output asks for both together, as the ledger sees it.
  const asked = withTotal(amounts);
  for (const id in asked) if (roomOf(path, id, time, dimensions) < (asked[id] ?? 0)) return false;
  return true;
}
