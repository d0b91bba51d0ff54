import type { Timer } from "../ports/timer.js";

/** Waits so long, or until a signal fires. */
export async function sleep(timer: Timer, ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const alarm = timer.after(ms, done);
    signal?.addEventListener("abort", done, { once: true });
    function done(): void {
      alarm[Symbol.dispose]();
      signal?.removeEventListener("abort", done);
      resolve();
    }
  });
}
