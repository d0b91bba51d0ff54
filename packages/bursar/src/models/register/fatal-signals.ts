/** Signals that end a process which does not listen to them. SIGQUIT is left as it is, for whoever must not wait. */
const FATAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** What is still to be done by a process that is about to die. */
export interface Farewell {
  /** Puts things in order, in a bounded time. */
  settle(): Promise<void>;
  /** The last words. */
  say(): void;
}

/**
 * Lets a process put things in order before a signal ends it; then it dies of that very signal. A second one does not wait.
 *
 * A program that listens to a signal itself is left alone with it. For as long as it does, nobody listens here, because libraries
 * that clean up count who listens before they end a process themselves.
 */
export class FatalSignals {
  private readonly farewell: Farewell;
  private dying = false;

  constructor(farewell: Farewell) {
    this.farewell = farewell;
    for (const signal of FATAL) this.listenAlone(signal);
    process.on("newListener", this.added);
    process.on("removeListener", this.removed);
  }

  private readonly added = (event: string | symbol, listener: unknown): void => {
    const signal = fatal(event);
    if (signal === null || listener === this.hear) return;
    // Node stops to listen when the last listener goes, so ours may go only once the new one is there.
    process.nextTick(() => {
      if (process.listenerCount(signal) > 1) process.off(signal, this.hear);
    });
  };

  private readonly removed = (event: string | symbol): void => {
    const signal = fatal(event);
    if (signal !== null && !this.dying) this.listenAlone(signal);
  };

  private readonly hear = (signal: NodeJS.Signals): void => {
    if (this.dying) {
      this.die(signal);
    } else if (process.listenerCount(signal) === 1) {
      // Were there more, somebody would have begun to listen just now.
      this.dying = true;
      void this.farewell.settle().finally(() => this.die(signal));
    }
  };

  private listenAlone(signal: NodeJS.Signals): void {
    if (process.listenerCount(signal) === 0) process.on(signal, this.hear);
  }

  private die(signal: NodeJS.Signals): void {
    this.farewell.say();
    // Whoever began to listen in the meantime came too late.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
}

function fatal(event: string | symbol): NodeJS.Signals | null {
  return FATAL.find((signal) => signal === event) ?? null;
}
