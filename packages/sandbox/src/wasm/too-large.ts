import { MemoryExhausted } from "./memory-exhausted.js";
import type { Execution } from "./outcome.js";
import { trapOf } from "./trap.js";

/** What becomes of a request to a guest that is larger than it may be before it does anything: it has done nothing. */
export function tooLarge(bytes: number): Execution {
  const outcome = trapOf(new MemoryExhausted());
  return { outcome, imports: [], fuel_consumed: 0, memory_bytes: 0, memory_refused: bytes };
}
