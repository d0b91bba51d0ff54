import type { Timer } from "../ports/timer.js";
import { offAbort, onAbort } from "../runtime/abort-listeners.js";

/** Waits so long, or until a signal fires. */
export async function sleep(timer: Timer, ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const alarm = timer.after(ms, done);
    onAbort(signal, done);
    function done(): void {
      alarm[Symbol.dispose]();
      offAbort(signal, done);
      resolve();
    }
  });
}
