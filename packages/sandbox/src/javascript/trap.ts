import { MemoryExhausted } from "../wasm/memory-exhausted.js";
import type { Outcome } from "../wasm/outcome.js";
import { trapOf } from "../wasm/trap.js";
import { Thrown } from "./quickjs.js";

/** What it means that a program was left by an exception. Whatever is no fault of the guest's is thrown on. */
export function outcomeOf(error: unknown): Outcome {
  // Our own code in the guest throws nothing by itself; where it cannot go on, there is no memory left for it.
  return trapOf(error instanceof Thrown ? new MemoryExhausted() : error);
}
