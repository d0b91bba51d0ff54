import type { Operation, Outcome } from "../core/operation.js";

const FREEING: ReadonlySet<Operation["op"]> = new Set(["commit", "release", "charge", "extend", "end"]);

/** Whether there may be more to reserve after this than before. */
export function frees(outcome: Outcome): boolean {
  return outcome.op === "expire" ? outcome.calls.length > 0 : FREEING.has(outcome.op);
}
