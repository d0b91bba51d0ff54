import type { Outcome } from "../wasm/outcome.js";
import { trapOf } from "../wasm/trap.js";
import { Thrown } from "./quickjs.js";

/** Says that a program has ended because the engine had no memory left for it. */
export class MemoryExhausted extends Error {
  override readonly name = "MemoryExhausted";

  constructor() {
    super("the guest has no memory left; raise its limit, or let the program keep less");
  }
}

/** What it means that a program was left by an exception. Whatever is no fault of the guest's is thrown on. */
export function outcomeOf(error: unknown): Outcome {
  // Our own code in the guest throws nothing by itself; where it cannot go on, there is no memory left for it.
  const exhausted = error instanceof Thrown ? new MemoryExhausted() : error;
  if (!(exhausted instanceof MemoryExhausted)) return trapOf(error);
  return { kind: "trapped", reason: "memory_limit", message: exhausted.message };
}
