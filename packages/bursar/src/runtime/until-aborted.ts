import { offAbort, onAbort } from "./abort-listeners.js";
/** What comes of work, or the reason of a signal that fires first. Work that does not listen to it is left behind. */
export function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else onAbort(signal, abort);
    // Also where nobody waits for it any more: what fails unheard would end the process.
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => offAbort(signal, abort));
  });
}
