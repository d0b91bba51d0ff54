import { offAbort, onAbort } from "../runtime/abort-listeners.js";
/** How work of somebody else's ended, failures included. */
export type Settled<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown };

/** `abandoned`: the signal fired and the work did not end; `settled` still tells how it does, should it ever. */
export type Outcome<T> = Settled<T> | { readonly kind: "abandoned"; readonly settled: Promise<Settled<T>> };

/**
 * Waits for work, but not beyond the signal: providers and tools may ignore it. What answers it at once is still heard,
 * within one turn of the event loop, because a failing provider may say what was used.
 */
export function outcomeOf<T>(work: () => T | Promise<T>, signal: AbortSignal): Promise<Outcome<T>> {
  const settled: Promise<Settled<T>> = (async () => work())().then(
    (value) => ({ kind: "done", value }),
    (error: unknown) => ({ kind: "failed", error }),
  );
  return new Promise((resolve) => {
    const abandon = (): void => void setImmediate(() => resolve({ kind: "abandoned", settled }));
    if (signal.aborted) abandon();
    else onAbort(signal, abandon);
    void settled.then((outcome) => {
      offAbort(signal, abandon);
      resolve(outcome);
    });
  });
}
