/** All that listen to one signal, in the order in which they began. */
class AbortListeners {
  private readonly signal: AbortSignal;
  private readonly listeners: (() => void)[] = [];

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  add(listener: () => void): void {
    if (this.listeners.length === 0) this.signal.addEventListener("abort", this.tell, { once: true });
    this.listeners.push(listener);
  }

  remove(listener: () => void): void {
    const at = this.listeners.indexOf(listener);
    if (at < 0) return;
    this.listeners.splice(at, 1);
    // A signal with a listener is kept alive by Node, a timeout's as long as it runs.
    if (this.listeners.length === 0) this.signal.removeEventListener("abort", this.tell);
  }

  private readonly tell = () => {
    for (const listener of this.listeners.splice(0)) {
      try {
        listener();
      } catch (error) {
        // As with listeners of its own: the others are told all the same.
        process.nextTick(() => {
          throw error;
        });
      }
    }
  };
}

const listening = new WeakMap<AbortSignal, AbortListeners>();

/**
 * Calls the listener once when the signal fires; not when it has fired already. However many calls share a signal, it has one listener of
 * ours: Node takes more than ten for a leak, and says so on the console.
 */
export function onAbort(signal: AbortSignal | null | undefined, listener: () => void): void {
  if (signal == null || signal.aborted) return;
  let listeners = listening.get(signal);
  if (listeners === undefined) {
    listeners = new AbortListeners(signal);
    listening.set(signal, listeners);
  }
  listeners.add(listener);
}

/** Takes a listener back. */
export function offAbort(signal: AbortSignal | null | undefined, listener: () => void): void {
  if (signal != null) listening.get(signal)?.remove(listener);
}
