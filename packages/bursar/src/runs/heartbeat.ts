import type { Timer } from "../ports/timer.js";

/** Does something again and again, the next time only after the last one is done. What it throws is told, and ends it. */
export function heartbeat(
  timer: Timer,
  every_ms: number,
  beat: () => Promise<void>,
  failed: (error: unknown) => void,
): Disposable {
  let over = false;
  let next = timer.after(every_ms, again);
  function again(): void {
    beat().then(
      () => {
        if (!over) next = timer.after(every_ms, again);
      },
      (error) => over || failed(error),
    );
  }
  return {
    [Symbol.dispose]() {
      over = true;
      next[Symbol.dispose]();
    },
  };
}

/** Waits for something, but no longer than so. */
export async function noLonger(timer: Timer, ms: number, work: Promise<unknown>): Promise<void> {
  let alarm: Disposable | null = null;
  const late = new Promise<void>((resolve) => {
    alarm = timer.after(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    (alarm as Disposable | null)?.[Symbol.dispose]();
  }
}
