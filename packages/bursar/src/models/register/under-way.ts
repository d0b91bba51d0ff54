import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { offAbort, onAbort } from "../../runtime/abort-listeners.js";
import { type Deferred, deferred } from "../../runtime/deferred.js";
import { ProcessEnding } from "../fetch/process-ending.js";
import { CALLS, type CallRecord } from "../meter/call-record.js";

/** A store that does not answer must not keep a process from dying. */
const PATIENCE_MS = 2000;

interface Sent {
  readonly stop: AbortController;
  /** Calls that were made for it and are not settled: that of a stream is so only at its end. */
  open: number;
  answered: boolean;
  leave(): void;
}

/** The requests that are under way, so that a process can settle them before it dies. */
export class UnderWay {
  private readonly current = new AsyncLocalStorage<Sent>();
  private readonly sent = new Set<Sent>();
  private ending: Deferred<void> | null = null;

  constructor() {
    subscribe(CALLS, (record) => this.hear(record as CallRecord));
  }

  /** Sends a request. Whoever waits for it once the process is ending waits in vain: to the program it has died already. */
  async follow(own: AbortSignal | null, send: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
    if (this.ending !== null) return never();
    const sent = this.add(own);
    const sending = this.current
      .run(sent, () => send(sent.stop.signal))
      .finally(() => {
        sent.answered = true;
        this.look(sent);
      });
    try {
      const response = await sending;
      return this.ending === null ? response : await never();
    } catch (error) {
      if (this.ending === null) throw error;
      return never();
    }
  }

  /** Breaks all of them off, and waits until they are settled. */
  async end(): Promise<void> {
    if (this.ending !== null) return this.ending.promise;
    this.ending = deferred<void>();
    // It also keeps the process alive, which has nothing else to wait for any more.
    const patience = setTimeout(() => this.ending?.resolve(), PATIENCE_MS);
    for (const { stop } of [...this.sent]) stop.abort(new ProcessEnding());
    if (this.sent.size === 0) this.ending.resolve();
    await this.ending.promise;
    clearTimeout(patience);
  }

  private add(own: AbortSignal | null): Sent {
    const stop = new AbortController();
    const abort = () => stop.abort(own?.reason);
    onAbort(own, abort);
    if (own?.aborted === true) abort();
    const leave = () => offAbort(own, abort);
    const sent: Sent = { stop, open: 0, answered: false, leave };
    this.sent.add(sent);
    return sent;
  }

  private hear({ kind }: CallRecord): void {
    const sent = this.current.getStore();
    if (sent === undefined) return;
    sent.open += kind === "started" ? 1 : -1;
    this.look(sent);
  }

  private look(sent: Sent): void {
    if (sent.open > 0 || !(sent.answered || this.ending !== null)) return;
    sent.leave();
    this.sent.delete(sent);
    if (this.sent.size === 0) this.ending?.resolve();
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
