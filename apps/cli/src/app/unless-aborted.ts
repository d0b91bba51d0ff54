/** What comes of work, or the reason of a signal that fires first. Work that does not listen to it is left behind. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    // Also where nobody waits for it any more: what fails unheard would end the process.
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
