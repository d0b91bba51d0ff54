import type { Outcome } from "../wasm/outcome.js";
import { trapOf } from "../wasm/trap.js";

/** Says that a program has ended because the engine had no memory left for it. */
export class MemoryExhausted extends Error {
  override readonly name = "MemoryExhausted";

  constructor() {
    super("the guest has no memory left; raise its limit, or let the program keep less");
  }
}

/** What it means that a program was left by an exception. Whatever is no fault of the guest's is thrown on. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof MemoryExhausted) return { kind: "trapped", reason: "memory_limit", message: error.message };
  return trapOf(error);
}
