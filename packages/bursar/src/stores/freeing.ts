import type { Operation, Outcome } from "../core/operation.js";

const FREEING: ReadonlySet<Operation["op"]> = new Set(["commit", "release", "charge", "extend", "end"]);

/** Whether there may be more to reserve after this than before, or soon. */
export function frees(outcome: Outcome): boolean {
  // A lease that is recalled is news to its holder, and one that is given back to everybody else.
  if (outcome.op === "put") return outcome.document.kind === "lease";
  return outcome.op === "expire" ? outcome.calls.length > 0 : FREEING.has(outcome.op);
}

/** Whether there may be a run for a worker to take. */
export function queues(outcome: Outcome): boolean {
  return outcome.op === "put" && outcome.document.kind === "run" && outcome.document.status === "queued";
}

/** Whether somebody was told to wait for what others hold. */
export function waits(outcome: Outcome): boolean {
  return outcome.op === "reserve" && outcome.decision.kind === "busy";
}
