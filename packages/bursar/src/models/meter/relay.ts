import { type Deferred, deferred } from "../../runtime/deferred.js";

/** Whoever was reading has stopped, or was told to: the other side stops too. */
export class ReaderLeft extends Error {
  override readonly name: string = "ReaderLeft";
}

interface Sent<Value> {
  readonly value: Value;
  readonly done: Deferred<void>;
}

/**
 * Hands values from a call that is being made to whoever reads its answer, one at a time and no faster than they are read. The call
 * is over before the reader is told so, and it hears when the reader leaves.
 */
export class Relay<Value> {
  private sent: Sent<Value> | null = null;
  private taken: Sent<Value> | null = null;
  private arrival = deferred<void>();
  private readonly kept: Value[] = [];
  private ending: { readonly error: unknown } | null = null;
  private stopped = false;

  /** Waits until the reader comes back for more. It throws `ReaderLeft` when he does not. */
  async send(value: Value): Promise<void> {
    if (this.stopped) throw new ReaderLeft("nobody reads this stream any more");
    const done = deferred<void>();
    this.sent = { value, done };
    this.arrival.resolve();
    await done.promise;
  }

  /** A value that is handed out once the call is over, so that whoever has read it finds the call in the books. */
  keep(value: Value): void {
    this.kept.push(value);
  }

  /** The call is over; null when nothing went wrong. */
  end(error: unknown): void {
    this.ending ??= { error };
    if (error !== null) this.stop();
    this.arrival.resolve();
  }

  /** Reads what is sent, up to the end. */
  async *read(): AsyncGenerator<Value, void, undefined> {
    try {
      for (;;) {
        await this.arrival.promise;
        const { sent } = this;
        if (sent === null) break;
        this.sent = null;
        if (this.ending === null) this.arrival = deferred<void>();
        this.taken = sent;
        yield sent.value;
        this.taken = null;
        sent.done.resolve();
      }
      if (this.ending !== null && this.ending.error !== null) throw this.ending.error;
      yield* this.kept;
    } finally {
      this.stop();
    }
  }

  /** Nobody reads any more. */
  stop(): void {
    this.stopped = true;
    for (const each of [this.sent, this.taken]) each?.done.reject(new ReaderLeft("nobody reads this stream any more"));
    this.sent = null;
    this.taken = null;
  }
}
