import { type Deferred, deferred } from "../../runtime/deferred.js";

/**
 * An answer that somebody waits for. Once he has it, nothing here leads to it any more: what still goes on behind a stream must not
 * keep the stream from being collected when he drops it.
 */
export class HandedOut<Answer> {
  private waiting: Deferred<Answer> | null = deferred<Answer>();

  /** For who waits; before it is handed out. */
  get promise(): Promise<Answer> {
    return (this.waiting as Deferred<Answer>).promise;
  }

  give(answer: Answer): void {
    this.waiting?.resolve(answer);
    this.waiting = null;
  }

  fail(error: unknown): void {
    this.waiting?.reject(error);
    this.waiting = null;
  }
}
