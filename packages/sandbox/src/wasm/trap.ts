import { DepthExceeded, engine, OutOfFuel } from "@bursar/wasm-fuel";
import { MemoryExhausted } from "./memory-exhausted.js";
import { type Outcome, Stopped } from "./outcome.js";

/** What it means that a guest was left by an exception. Whatever is no fault of the guest's is thrown on. */
export function trapOf(error: unknown): Outcome {
  if (error instanceof OutOfFuel) return { kind: "trapped", reason: "out_of_fuel", message: error.message };
  if (error instanceof DepthExceeded) return { kind: "trapped", reason: "stack_overflow", message: error.message };
  if (error instanceof MemoryExhausted) return { kind: "trapped", reason: "memory_limit", message: error.message };
  if (error instanceof Stopped) return { kind: "trapped", reason: error.reason, message: error.message };
  // The engine's own stack ended first: deterministic limits are set so that it does not.
  if (error instanceof RangeError && /call stack/i.test(error.message)) {
    return { kind: "trapped", reason: "stack_overflow", message: "calls are nested too deeply" };
  }
  if (!(error instanceof engine.RuntimeError)) throw error;
  const reason = error.message === "unreachable" ? "unreachable" : "trap";
  return { kind: "trapped", reason, message: error.message };
}
